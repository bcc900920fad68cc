"""What is printed moves no cursor, hides no word, links nowhere, and writes no line of its own."""

from __future__ import annotations

import json
import logging
import unicodedata
from pathlib import Path

import pytest

from gpuledger.flows.doors.showing.terminal import UNSAFE, clean
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.settings.settings import Settings
from gpuledger.flows.telling import logs
from gpuledger.flows.telling.run_shown import show_summary
from gpuledger.warehouse.ledger import PriceChange, SourceOutcome
from gpuledger.warehouse.paths import DataDir
from tests.command import ROOT, succeeds
from tests.nights import Night

#: What a title could have in it, and what of it is text.
HOSTILE: dict[str, str] = json.loads(Path(__file__).with_name("hostile_titles.json").read_text(encoding="utf-8"))
# Two halves of letters, which JSON would read as one.
HOSTILE["\ud800\udc00RTX 4090"] = "\ufffd\ufffdRTX 4090"
#: What only looks odd.
HARMLESS = [
    "GeForce RTX 4090 24GB", "지포스 RTX 4090", "RTX 4090 – “Founders”", "7,49 €\tneu", "[bold]RTX 4090[/bold]", "日本語 🎮",
    "👩‍💻 workstation", ":smile: RTX", "naïve café ✓", "❤\ufe0f RTX", "नी\u200cली", "RTX\u00a04090", "한\u1100",
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown"), HOSTILE.items(), ids=map(ascii, HOSTILE))
def test_only_text_is_left(text: str, shown: str) -> None:
    assert clean(text) == shown
    assert clean(clean(text)) == shown
    assert not UNSAFE.search(clean(text, keep_lines=True))
    shown.encode()


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_odd_stays(text: str) -> None:
    assert clean(text) == text


def test_no_sign_of_control_is_left() -> None:
    """Of all of Unicode: but a tab, the end of a line where it is wanted, what joins letters, and signs that are seen."""
    signs = {letter for letter in map(chr, range(0x110000)) if unicodedata.category(letter) in ("Cc", "Cf", "Cs")}
    left = {letter for letter in signs if letter in clean(f"a{letter}b", keep_lines=True)}
    seen = {
        letter for letter in left if unicodedata.name(letter, "").startswith(("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN"))
    }
    assert left - seen == {"\t", "\n", "\u200c", "\u200d"}
    assert len(seen) < 40 < 2000 < len(signs)


def test_lines_stay_where_they_are_wanted() -> None:
    assert clean("a\nb\u2028c", keep_lines=True) == "a\nb\nc"


def test_the_table_of_a_refresh(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Titles, reasons and all, through the real drawing; and markup of the terminal's library is a title's own."""
    titles = [*HOSTILE, "[red]RTX 4090[/red] [link=https://evil.example]x[/link] :pile_of_poo:"]
    summary = Summary(
        "r", [SourceOutcome("newegg", "failed", f"LayoutChanged: {''.join(HOSTILE)}; mend it")],
        changes=[PriceChange("newegg", title, "dearer", "1.00", "2.00", "USD") for title in titles[:12]]
        , reason="".join(HOSTILE),
    )  # fmt: skip
    show_summary(summary, DataDir(tmp_path))
    for title in titles:
        one = Summary("r", changes=[PriceChange("newegg", title, "dearer", "1.00", "2.00", "USD")])
        show_summary(one, DataDir(tmp_path))
    out = capsys.readouterr().out
    assert not UNSAFE.search(out), ascii(out)
    assert "[red]RTX 4090[/red]" in out
    assert ":pile_of_poo:" in out


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_sql_prints_no_escapes(nights: dict[int, Night], form: str) -> None:
    texts = [
        text for text in HOSTILE if not any(0xD800 <= ord(letter) < 0xE000 for letter in text) and "\x00" not in text
    ]
    query = " UNION ALL ".join(
        f"SELECT {' || '.join(f'chr({ord(letter)})' for letter in text)} AS title" for text in texts
    )
    outcome = succeeds("sql", query, "--format", form, data=nights[1].data)
    assert not UNSAFE.search(outcome.out), ascii(outcome.out)
    if form == "json":  # nothing is lost to a program
        assert sorted(row["title"] for row in json.loads(outcome.out)) == sorted(texts)


@pytest.mark.parametrize("form", ["json", "text"])
def test_the_log(form: str, capfd: pytest.CaptureFixture[str]) -> None:
    before = [
        (log, log.handlers[:], log.level, log.propagate) for log in map(logging.getLogger, (logs.NAME, *logs.LIBRARIES))
    ]
    try:
        logs.set_up(Settings(log_format=form))
        for text in HOSTILE:
            logs.event(logging.getLogger(logs.NAME), logging.WARNING, f"of a page: {text}", title=text)
    finally:
        for log, handlers, level, propagate in before:
            log.handlers[:], log.level, log.propagate = handlers, level, propagate
    err = capfd.readouterr().err
    assert not UNSAFE.search(err), ascii(err)
    assert err.count("\n") == len(HOSTILE)  # a title with a new line in it writes no second entry


def test_one_place_makes_consoles_and_json_for_programs() -> None:
    """Whatever else would draw past the cleaning."""
    for path in sorted((ROOT / "flows").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name != "terminal.py":
            assert "from rich.console import Console\n" not in text.replace(
                "if TYPE_CHECKING:\n    from rich.console import Console\n", ""
            ), path
            assert "rich import print" not in text, path
        if path.parent.name == "commands":
            assert "ensure_ascii=False" not in text, path
            assert "TextColumn(" not in text or text.count("TextColumn(") == text.count("markup=False"), path
