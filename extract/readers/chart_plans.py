"""Plans of charts that a person wants the program to read: which picture of which article shows which workload.

There is one TOML file for each article:

    article_url = "https://www.tomshardware.com/…"
    published_on = 2026-03-01

    [[chart]]
    workload = "sd-512-image-generation"
    caption = "512x512"    # words of the picture's caption, or else image_url; neither if the article has only one chart
    series = 1             # which bar of a row, counted from 0 (the inner or first one); 0 by default
    title = "…"            # a name for the chart; by default its caption
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gpuledger.extract import local_files
from gpuledger.extract.items import Chart

#: The content type under which the program archives such a file.
CONTENT_TYPE = "application/toml"
_OF_FILE = frozenset(("article_url", "published_on", "chart"))
_OF_CHART = frozenset(("workload", "caption", "image_url", "series", "title"))


class PlanError(ValueError):
    """A file of plans cannot be used. The message names the file, the place in the file, and what should be there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One chart: where it is and what it shows. `series` is None if it may be any series."""

    article_url: str
    workload_id: str
    published_on: date
    caption: str | None = None
    image_url: str | None = None
    series: int | None = 0
    title: str | None = None

    def means(self, chart: Chart) -> bool:
        """Return whether the plan is about this picture of the article."""
        if place_of(chart.article_url) != place_of(self.article_url):
            return False
        if self.image_url is not None:
            return self.image_url == chart.image_url
        return self.caption is None or self.caption.casefold() in chart.caption.casefold()


def articles_in(path: Path) -> list[str]:
    """Return the addresses of the articles of a file; none if it is no plan, which an issue says when it is read."""
    try:
        return [plan.article_url for plan in read_toml(local_files.read_bytes(path), path.name)]
    except (OSError, PlanError):
        return []


def read_toml(content: bytes, name: str) -> list[Plan]:
    """Return the plans of one file. Raises PlanError."""
    try:
        table = tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise PlanError(f"{name}: {'nested too deeply' if isinstance(error, RecursionError) else error}") from None
    _refuse_unknown(table, _OF_FILE, name)
    article, published = table.get("article_url"), table.get("published_on")
    if not isinstance(article, str) or urlsplit(article).scheme not in ("http", "https"):
        raise PlanError(f"{name}: article_url must be the article's http or https address")
    if not isinstance(published, date) or isinstance(published, datetime):
        raise PlanError(f"{name}: published_on must be a date such as 2026-03-01, without quotes")
    charts = table.get("chart")
    if not isinstance(charts, list) or not charts or not all(isinstance(chart, dict) for chart in charts):
        raise PlanError(f"{name}: there is no [[chart]]; each names a workload")
    return [_plan(chart, article, published, f"{name}, chart {number}") for number, chart in enumerate(charts, start=1)]


def place_of(url: str) -> str:
    """Return an article's address without the parts that do not identify it: query, fragment, host case, final slash."""
    parts = urlsplit(url)
    return f"{(parts.hostname or '').lower()}{parts.path.rstrip('/')}"


def _plan(table: dict[str, Any], article: str, published: date, where: str) -> Plan:
    _refuse_unknown(table, _OF_CHART, where)
    for key in ("workload", "caption", "image_url", "title"):
        if key in table and not (isinstance(table[key], str) and table[key]):
            raise PlanError(f"{where}: {key} must be text")
    if "workload" not in table:
        raise PlanError(f"{where}: workload is missing; `gpuledger workloads` lists those that are known")
    series = table.get("series", 0)
    if isinstance(series, bool) or not isinstance(series, int) or series < 0:
        raise PlanError(f"{where}: series must be 0, 1 …, counted from the inner or first bar of a row")
    return Plan(
        article_url=article, published_on=published, workload_id=table["workload"], caption=table.get("caption"),
        image_url=table.get("image_url"), series=series, title=table.get("title"),
    )  # fmt: skip


def _refuse_unknown(table: dict[str, Any], known: frozenset[str], where: str) -> None:
    if unknown := sorted(table.keys() - known):
        raise PlanError(f"{where}: {', '.join(unknown)} means nothing here; known are {', '.join(sorted(known))}")
