"""Names that mean one card in a source's tables stay open in a shop, and the file of them contradicts nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuledger.transform.identity import aliases, catalogue
from gpuledger.transform.identity.aliases import Alias, AliasError, Aliases
from gpuledger.transform.identity.resolver import Resolver

RESOLVER = Resolver.load()


def test_an_alias_says_that_it_decided_and_why() -> None:
    found = RESOLVER.resolve("RTX 3080", source="toms_ai_articles")
    assert found.rule == "alias"
    assert "alias of toms_ai_articles: the launch version" in found.explanation


def _one(source: str, name: str, gpu_id: str) -> Aliases:
    return Aliases(by_key={(source, aliases.key(name)): Alias(gpu_id, "a reason")}, contexts={})


def test_an_alias_to_no_card_is_refused() -> None:
    with pytest.raises(AliasError, match="'nvidia-rtx-9999', which is not in the catalogue"):
        _one("survey", "RTX 9999", "nvidia-rtx-9999").check(lambda _: set())


@pytest.mark.parametrize(
    "second",
    ['["geforce rtx3080", "nvidia-geforce-rtx-3080-12gb"]', '["RTX 3080", "nvidia-geforce-rtx-3080-10gb"]'],
)
def test_one_name_twice_in_one_source_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str) -> None:
    (tmp_path / "aliases.toml").write_text(
        '[sources]\nsurvey = "benchmark"\n[[alias]]\nsources = ["survey"]\nreason = "r"\n'
        f'names = [["RTX 3080", "nvidia-geforce-rtx-3080-10gb"], {second}]\n'
    )
    monkeypatch.setattr(aliases, "DATA", tmp_path)
    with pytest.raises(AliasError, match=r"means nvidia-geforce-rtx-3080-10gb and .* for source 'survey'; keep one"):
        aliases.load.__wrapped__()


def test_a_resolver_does_not_start_with_an_alias_against_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "aliases.toml").write_text(
        '[sources]\nsurvey = "benchmark"\n[[alias]]\nsources = ["survey"]\nreason = "r"\n'
        'names = [["RTX 4090", "nvidia-geforce-rtx-3080-10gb"]]\n'
    )
    monkeypatch.setattr(aliases, "DATA", tmp_path)
    aliases.load.cache_clear()
    try:
        with pytest.raises(AliasError, match="its words say"):
            Resolver.load()
    finally:
        monkeypatch.undo()
        aliases.load.cache_clear()


@pytest.mark.parametrize("name", ["GeForce RTX 3080 Graphics Card", "NVIDIA GPU RTX 3080", "rtx-3080"])
def test_a_key_leaves_out_what_not_all_titles_have(name: str) -> None:
    assert aliases.key(name) == "rtx3080"


def test_every_alias_of_the_file_is_needed() -> None:
    """An alias that the words alone decide would hide a change of the rules."""
    for (source, name), alias in aliases.load().by_key.items():
        found = RESOLVER.resolve(name, source=source or None)
        assert (found.gpu_id, found.rule) == (alias.gpu_id, "alias"), (source, name, found.explanation)


def test_every_gpu_id_of_the_file_is_a_card() -> None:
    assert {alias.gpu_id for alias in aliases.load().by_key.values()} <= set(catalogue.by_id())
