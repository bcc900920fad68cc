"""Every card of the last ten years as makers and shops write titles: itself, or open, never another card."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.resolver import Resolver

RESOLVER = Resolver.load()
SOLD = ("consumer", "workstation", "data_center", "mining")
CARDS = [gpu for gpu in catalogue.gpus() if gpu.segment in SOLD and gpu.released_on and gpu.released_on.year >= 2014]


def titles(gpu: Gpu) -> Iterator[str]:
    """Titles of one card. None states a memory type: a GTX 1650 with GDDR6 is another card."""
    memory = catalogue.memory_text(gpu.memory_gb) if gpu.memory_gb else ""
    name = gpu.name.removesuffix(memory).strip()
    short = name.replace("GeForce ", "").replace("Radeon ", "")
    glued, size = short.replace(" ", ""), memory.removesuffix("B")
    yield f"{gpu.vendor} {name} {memory}"
    yield f"MSI {name} {size} Gaming Trio OC"
    yield f"Gigabyte {glued} WINDFORCE OC {size}"
    yield f"ASUS DUAL-{glued}-O{size} {name} {memory}"
    yield f"PNY {name} {memory} Dual Fan Graphics Card PCI Express 4.0"
    yield f"Palit {short.upper()} DUAL {memory} Grafikkarte, HDMI, 3x DP"
    yield f"이엠텍 {name} STORM Dual OC {memory} 그래픽카드"
    yield f"Karta graficzna {name.lower()} {memory.lower()}"
    yield f"{name.replace(' ', '-')} {size}"
    yield f"Used - {short} ({memory}) - Excellent condition"
    yield f"Leadtek {name} 显卡 {size} 三风扇"
    yield f"Видеокарта {name} {memory.replace('GB', ' ГБ')}"


@pytest.mark.parametrize("style", range(len(list(titles(CARDS[0])))))
def test_a_title_means_its_card_or_stays_open(style: int) -> None:
    matched = 0
    for gpu in CARDS:
        title = list(titles(gpu))[style]
        found = RESOLVER.resolve(title)
        assert found.gpu_id in (gpu.gpu_id, None), f"{title!r}: {found.explanation}"
        assert found.status != "ambiguous" or gpu.gpu_id in found.candidates, f"{title!r}: {found.candidates}"
        matched += found.gpu_id is not None
    assert matched > 0.75 * len(CARDS), "a server card's short name alone says too little in a shop"
