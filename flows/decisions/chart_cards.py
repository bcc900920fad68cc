"""Which card each label of a chart means. A value is quarantined if its label means no single card, or the same card as
another label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuledger.extract.charts.outcome import ChartReading, Value

if TYPE_CHECKING:
    from gpuledger.transform.identity.resolver import Resolver

#: The source by whose conventions labels are read, if the caller names none: there a bare RTX 3060 is the launch card.
SOURCE = "toms_ai_articles"


def with_cards(reading: ChartReading, resolver: Resolver, source: str = SOURCE) -> list[tuple[Value, str | None]]:
    """The values of a chart with their gpu_id. Values with a doubtful label are quarantined."""
    meant = {value.label: resolver.resolve(value.label, source=source) for value in reading.values}
    labels: dict[str | None, set[str]] = {}
    for label, card in meant.items():
        labels.setdefault(card.gpu_id, set()).add(label)
    judged: list[tuple[Value, str | None]] = []
    for value in reading.values:
        card = meant[value.label]
        if card.gpu_id is None or card.gpu_count != 1:
            judged.append((value.refused(f"the label means no single card: {card.status}"), None))
        elif len(labels[card.gpu_id]) > 1:
            judged.append((value.refused("another label of the chart means the same card"), card.gpu_id))
        else:
            judged.append((value, card.gpu_id))
    return judged
