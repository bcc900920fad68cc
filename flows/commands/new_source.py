"""`gpuledger new-source`: write the stubs of a new source."""

from __future__ import annotations

import click

from gpuledger.flows.words.say import as_wrong_use


@click.command()
@click.argument("name")
@click.argument("url")
def command(name: str, url: str) -> None:
    """Write the stubs of a source called NAME that starts at URL into this checkout: code, case and contract.

    The tests fail until every TODO in them is done.
    """
    from gpuledger.flows.checks import new_source

    with as_wrong_use(new_source.BadSource):
        for path in new_source.write(name, url, new_source.checkout()):
            click.echo(path)
    click.echo(
        f"now do every TODO in them. `gpuledger parse {name} extract/sources/{name}/cases/listing.html` shows what is read, "
        f"`make check WHAT=extract/sources/{name}` whether it is right, and `gpuledger sources check {name}` what "
        "the real page gives"
    )
