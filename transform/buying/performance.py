"""The largest speed at which a card can write, and what a measurement says in comparison.

To write text token by token, a card reads every weight once for each token, so memory bandwidth bounds the speed. Source:
Williams, Waterman & Patterson 2009, "Roofline"; Pope et al. 2022.

Cards that exchange data over slots lose more time with each further card that shares a layer. So if a part of the cards
holds the whole model, many users are served faster by several copies of it (vLLM: --data-parallel-size).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.need import Need
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.links import is_module
from gpuledger.transform.speed.predict import job_of

Verdict = Literal["error in data or formula", "limited by software or CPU, not by the card", "limited by the card"]


@dataclass(frozen=True, slots=True)
class Utilisation:
    """A measured speed, its bound, the `share` measured / bound, and what this share says."""

    measured: float
    bound: float
    share: float
    verdict: Verdict


def utilisation(measured: float, bound: float, assumptions: Assumptions) -> Utilisation:
    """What a measured speed says in comparison with its bound.

    A share above 1 is impossible, so the data or the formula is wrong. A share below `low_utilisation` means that the card
    was waiting for something else.
    """
    if measured < 0 or bound <= 0:
        raise ValueError(f"a speed must not be negative and its bound must be above zero, not {measured} and {bound}")
    share = measured / bound
    verdict: Verdict = "limited by the card"
    if share > 1:
        verdict = "error in data or formula"
    elif share < assumptions.low_utilisation:
        verdict = "limited by software or CPU, not by the card"
    return Utilisation(measured=measured, bound=bound, share=share, verdict=verdict)


#: A further copy must make the model faster by at least this factor, because it costs memory and gives each card less work
#: at once.
HARDLY_FASTER = 1.05


@dataclass(frozen=True, slots=True)
class Copies:
    """The ways to load a model several times for the users of `need`."""

    need: Need
    _shares: dict[int, Need] = field(default_factory=dict, compare=False, repr=False)

    def on(self, gpu: Gpu, count: int) -> Iterator[int]:
        """The numbers of copies that `count` cards can hold, each copy on an equal part of the cards.

        Nothing for modules, which exchange data fast enough, and for models that are partly left with the processor.
        """
        need = self.need
        is_served = need.job is not None and need.engine.split == "tensor" and need.offload == "none"
        if not is_served or is_module(gpu):
            return
        for copies in range(2, min(count, need.users) + 1):
            cards, left_over = divmod(count, copies)
            if not left_over and self.of(copies).needed_bytes(cards) <= need.usable_bytes(gpu, cards):
                yield copies

    def of(self, copies: int) -> Need:
        """What one of `copies` copies needs. If the users do not divide evenly, this is the copy with most users."""
        need = self.need
        if copies == 1:
            return need
        share = self._shares.get(copies)
        if share is None:
            assert need.job is not None, "an image model is loaded on each card anyway"
            users = math.ceil(need.users / copies)
            job = job_of(need.job.shape, need.job.size.precision, replace(need.job.load, users=users), need.assumptions)
            share = self._shares[copies] = replace(need, users=users, job=job)
        return share
