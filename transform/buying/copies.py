"""Several copies of a model on the cards of one machine, each for its share of the users.

Cards that exchange data over slots lose more time with each further card that shares a layer. So if a part of the cards
holds the whole model, many users are served faster by several copies of it (vLLM: --data-parallel-size).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gpuledger.transform.buying.need import Need
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.links import is_module
from gpuledger.transform.speed.predict import job_of

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
