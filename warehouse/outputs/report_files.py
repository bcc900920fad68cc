"""The report for procurement: one HTML file that needs nothing else, no network, no script, to be read, printed or mailed.

Every number leads to the page that it is from and to the archived bytes that it was read from. The file depends on the
warehouse and the archive alone: equal ones give equal files, whenever it is written.
"""

from __future__ import annotations

import gettext as gettext_module
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gpuledger.warehouse.outputs import report_charts, report_data, report_words
from gpuledger.warehouse.outputs.report_charts import Point, Scatter
from gpuledger.warehouse.outputs.report_data import Report
from gpuledger.warehouse.paths import DataDir

NAME = "index.html"
_TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """Where archived bytes came from, and when they came first (UTC)."""

    url: str
    fetched_at: datetime


def nowhere(sha256: str) -> ArchivedPage | None:
    """An archive that knows nothing: for a warehouse that came without one."""
    return None


def export(
    data: DataDir,
    folder: Path,
    *,
    archived: Callable[[str], ArchivedPage | None] = nowhere,
    language: str = "en",
    translations: gettext_module.NullTranslations | None = None,
) -> list[Path]:
    """Write the report of what is published to `<folder>/index.html`; its path.

    `archived` finds an archived page by its SHA-256; `translations` has the words of `language` (ISO 639), English without.
    Raises NoWarehouse, NotAWarehouse or WarehouseError.
    """
    html = render(report_data.read_report(data), archived, language, translations or gettext_module.NullTranslations())
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(html, encoding="utf-8", newline="")
    part.replace(path)
    return [path]


def render(
    report: Report,
    archived: Callable[[str], ArchivedPage | None],
    language: str,
    translations: gettext_module.NullTranslations,
) -> str:
    """The report as HTML."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, extensions=["jinja2.ext.i18n"],
    )  # fmt: skip
    environment.install_gettext_callables(  # type: ignore[attr-defined]  # an extension adds it
        translations.gettext, translations.ngettext, newstyle=True
    )
    environment.filters.update(report_words.FILTERS)
    return environment.get_template("report.html").render(
        report=report,
        language=language,
        words=report_words.translated_values(translations.gettext),
        pages={sha256: archived(sha256) for sha256 in report.pages()},
        chart=report_charts,
        scatters={row["workload_id"]: _scatter(report, row["workload_id"]) for row in report.workloads if row["is_ai"]},
        sparklines={gpu_id: _sparkline(report, gpu_id) for gpu_id in report.daily},
        by_model=report_data.by_model,
    )


def _scatter(report: Report, workload: str) -> tuple[str, Scatter] | None:
    """The chart of one workload with its price basis: street prices, or launch prices where no card can be bought."""
    for basis in ("street", "msrp"):
        rows = report.value.get((workload, basis))
        if rows:
            points = [
                Point(
                    float(row["price_usd"]),
                    float(row["score"]),
                    report_words.short(row["gpu"]),
                    row["on_pareto_frontier"],
                )
                for row in rows
            ]
            return basis, report_charts.scatter(points)
    return None


def _sparkline(report: Report, gpu_id: str) -> str:
    days = [(row["day"], float(row["low_usd"])) for row in report.daily[gpu_id]]
    everyone = [row["day"] for rows in report.daily.values() for row in rows]
    return report_charts.sparkline(days, min(everyone), max(everyone))
