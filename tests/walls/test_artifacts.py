# ruff: noqa: E501  tables of cases
"""What Prefect's UI shows of a page's words: words, whatever Markdown would make of them, and no secret."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

from markdown_it import MarkdownIt

from gpuledger.flows.night.summary import SourceOutcome, Summary
from gpuledger.flows.prefect_ import artifacts
from gpuledger.flows.telling.redact import Redactor
from tests.walls.cases import failing

#: Titles and reasons that are markup to CommonMark, GitHub's tables and strikethrough, or HTML.
MARKUP = [
    "~~RTX 4090~~", "RTX ~~4090~~ 5090", "# RTX 4090", "###### RTX", "RTX #1 #", "- RTX", "-- RTX", "---", "- - -", "+ RTX", "+", "===",
    "* RTX", "***", "**RTX**", "*RTX*", "__RTX__", "_RTX_", "___", "`RTX`", "``RTX", "```sh", "~~~sh", "[RTX](https://evil.example)",
    "[RTX]", "[RTX][1]", "[1]: https://evil.example", "![RTX](https://evil.example/a.png)", "!RTX", "<b>RTX</b>", "<script>alert(1)</script>",
    "<https://evil.example>", "<img src=x onerror=alert(1)>", "<!-- RTX -->", "<![CDATA[RTX]]>", "<?php RTX ?>", "&lt;b&gt;", "&#60;b&#62;", "&amp;",
    "> RTX", ">> RTX", "a | b", "| a | b |", "\\| a", "a \\", "\\\\", "\\*RTX\\*", "\\<b>", "- [ ] RTX", "[^1]: RTX", "RTX[^1]", "~RTX~", "-RTX",
    "<details open>", "</td></tr></table>RTX", "[a]: <javascript:alert(1)>", "**RTX~~*4090*~~**", "=RTX",
]  # fmt: skip
SECRET = "h7Qp2xZthewholesecret"
NAMED = [
    f"{name}{mark}{SECRET}"
    for name in ("api_key", "client_secret", "x_api_key", "access_key", "refresh_token", "user_pass", "[api_key]", "*api_key")
    for mark in ("=", ": ", "=>")
] + [f"https://h.example/{path}{SECRET}" for path in ("a_b?api_key=", "?a_key=1&auth_key=", "*!_?sig_x=", "a;session_id=")]  # fmt: skip


def in_a_table(reason: str) -> str:
    return artifacts.failed_sources(Summary("r", [SourceOutcome("newegg", "failed", reason)]), Redactor())


def test_a_pages_words_are_no_markup() -> None:
    markdown = MarkdownIt("commonmark").enable(["strikethrough", "table"])

    def words(html: str) -> str:
        assert not re.search("<(?!/?(p|table|thead|tbody|tr|th|td)>)", html), html
        return unescape(re.sub("<[^<>]+>", "", html)).strip()

    def alone(text: str) -> None:
        assert words(markdown.render(artifacts._as_text(text))) == text

    def in_a_row(text: str) -> None:
        row = re.findall("<td>(.*?)</td>", markdown.render(in_a_table(text)), re.DOTALL)
        assert len(row) == 3
        assert words(row[2]) == text

    cases: dict[str, Callable[[], None]] = {f"alone {text}": lambda t=text: alone(t) for text in MARKUP}  # type: ignore[misc]
    cases |= {f"in a row {text}": lambda t=text: in_a_row(t) for text in MARKUP}  # type: ignore[misc]
    assert failing(cases) == {}


def test_no_mark_of_ours_hides_the_name_of_a_secret() -> None:
    shown = [reason for reason in NAMED if SECRET in in_a_table(reason)]
    assert shown == []
