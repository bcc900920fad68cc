"""Rows of core.published_claim, the figures that documents print, and of core.recomputed_figure.

A recomputed figure follows from the shapes of models, the catalogue and printed inputs alone. Figures that also need scores
and prices are recomputed in mart.claim_audit.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from gpuledger.transform.claims import Claim
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.warehouse.load.stage import Value

_HERE = Path(__file__).parent
SURVEY, PROSE = "survey", "survey-prose"
#: The survey writes the names of cards like this source, so the aliases of this source apply.
_NAMES_OF = "toms_ai_articles"
_UNITS = {"score_per_usd": "score per USD", "bandwidth_bound": "tokens/s", "bandwidth_utilisation_percent": "percent"}


def published(resolver: Resolver, documents: Sequence[Claim]) -> Iterator[Sequence[Value]]:
    """All published figures: those in the survey's tables and prose, and those of the other documents."""
    yield from _survey(resolver)
    for said in tomllib.loads((_HERE / "survey_prose.toml").read_text(encoding="utf-8"))["claim"]:
        gpu_id = resolver.resolve(said["gpu_name"], source=_NAMES_OF).gpu_id
        yield (
            said.get("document", PROSE),
            said["id"], said["statement"], said["workload_id"], said["gpu_name"], gpu_id, said["measure"],
            said["published"], said.get("decimals", 0), _UNITS.get(said["measure"]), said.get("comparison", "equals"),
            said.get("erratum"),
        )  # fmt: skip
    for claim in documents:
        comparison = "within_inputs" if claim.rounding == "within_inputs" else "equals"
        yield (
            claim.document, claim.claim_id, claim.statement, None, None, None, "figure", claim.published, claim.decimals,
            claim.unit, comparison, claim.erratum,
        )  # fmt: skip


def recomputed(documents: Sequence[Claim]) -> Iterator[Sequence[Value]]:
    """The figures of the other documents, recomputed from their inputs. A published value from lowest to highest agrees."""
    for claim in documents:
        yield claim.document, claim.claim_id, claim.recomputed, claim.lowest, claim.highest


def _survey(resolver: Resolver) -> Iterator[Sequence[Value]]:
    """The derived cells of the survey's tables, as printed. The id of a claim has its table, workload, measure and GPU."""
    with (_HERE / "survey_claims.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            measure = row["measure"]
            measured = "score per launch dollar" if measure == "score_per_usd" else "score relative to the RTX 3060"
            claim = f"{row['place']}/{row['workload_id']}/{measure}/{row['gpu_name'].lower().replace(' ', '-')}"
            place = row["place"].replace("-", " ").capitalize()
            yield (
                SURVEY, claim, f"{place}: {measured} of {row['gpu_name']} in {row['workload_id']}", row["workload_id"],
                row["gpu_name"], resolver.resolve(row["gpu_name"], source=_NAMES_OF).gpu_id, measure, row["published"],
                row["decimals"], _UNITS.get(measure), "equals", None,
            )  # fmt: skip
