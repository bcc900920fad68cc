"""`gpuledger new-source`: say how any shop's address is read, or write the stubs of a source of its own."""

from __future__ import annotations

import json

import click

from gpuledger.flows.doors.asking.options import data_dir_option, data_of
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import as_wrong_use, failure


@click.command()
@click.argument("name_or_url", metavar="[NAME]")
@click.argument("url", metavar="URL", required=False)
@data_dir_option
def command(name_or_url: str, url: str | None, data_dir: str | None) -> int:
    """Read a shop's product or list of products at URL, and say which lines of gpuledger.toml have it read every night.

    With a NAME, write instead the stubs of a source of that name into this checkout: code, case and contract. The tests
    fail until every TODO in them is done.
    """
    if url is None:
        return _settings_for(name_or_url, data_dir)
    from gpuledger.flows.checks import new_source

    name = name_or_url
    with as_wrong_use(new_source.BadSource):
        for path in new_source.write(name, url, new_source.checkout()):
            click.echo(path)
    click.echo(
        f"now do every TODO in them. `gpuledger parse {name} extract/sources/{name}/cases/listing.html` shows what is read, "
        f"`make check WHAT=extract/sources/{name}` whether it is right, and `gpuledger sources check {name}` what "
        "the real page gives"
    )
    return 0


def _settings_for(url: str, data_dir: str | None) -> int:
    """Print what a night would read at `url` and what to write into the settings. Exit status 1 if no price is read."""
    from gpuledger.errors import ExtractError
    from gpuledger.flows.checks import shop
    from gpuledger.flows.night import gather
    from gpuledger.flows.night.start import Request, context_for
    from gpuledger.flows.settings import settings as settings_module
    from gpuledger.items import Issue, Offer

    settings = settings_module.load({"data_dir": data_dir})
    with as_wrong_use(ValueError):
        context = context_for(settings, data_of(data_dir), "plain", Request())
    try:
        with gather.reader(context) as reader:
            seen = shop.look(reader, url)
    except ExtractError as error:
        raise click.ClickException(failure(error)) from None
    if seen.links:
        list_ = gettext("a list of {count} products; the first of them:")
        links = gettext("no clear list, but {count} links that name cards; the first of them:")
        click.echo((list_ if seen.is_list else links).format(count=len(seen.links)))
    for item in seen.first:
        if isinstance(item, Offer):
            price = gettext("no price") if item.price is None else f"{item.price} {item.currency}"
            click.echo(f"{item.title[:70]} · {price} · {item.condition} · {item.availability}")
        elif isinstance(item, Issue):
            click.echo(f"{item.severity} {item.code}: {item.message}")
    click.echo(gettext("write into gpuledger.toml, and each refresh reads it:"))
    addresses = [url] if seen.is_list or not seen.links else seen.links
    click.echo("product_urls = [\n" + "".join(f"  {json.dumps(one)},\n" for one in addresses) + "]")
    return 0 if any(isinstance(item, Offer) and item.price is not None for item in seen.first) else 1
