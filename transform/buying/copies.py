"""Several copies of a model on the cards of one machine, each for its share of the users.

Cards that exchange over slots lose more with each card that a layer is divided among, so who serves many people with a model
that a part of the cards holds loads it more than once (vLLM: --data-parallel-size).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gpuledger.transform.buying.need import Need
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.links import is_module
from gpuledger.transform.speed.predict import job_of

#: A copy costs memory and gives each card less to do at once: none is loaded for less speed than this.
HARDLY_FASTER = 1.05


@dataclass(frozen=True, slots=True)
class Copies:
    """The ways to load a model more than once for the users of `need`."""

    need: Need
    _shares: dict[int, Need] = field(default_factory=dict, compare=False, repr=False)

    def on(self, gpu: Gpu, count: int) -> Iterator[int]:
        """How many copies `count` cards hold, each on as many of them; none where nothing is gained.

        Modules exchange fast enough, and what does not fit is not loaded twice.
        """
        need = self.need
        is_served = need.job is not None and need.engine.split == "tensor" and need.offload == "none"
        if not is_served or is_module(gpu):
            return
        for copies in range(2, min(count, need.users) + 1):
            cards, rest = divmod(count, copies)
            if not rest and self.of(copies).needed_bytes(cards) <= need.usable_bytes(gpu, cards):
                yield copies

    def of(self, copies: int) -> Need:
        """What one of so many copies needs: that of the most users, where they cannot be shared out evenly."""
        need = self.need
        if copies == 1:
            return need
        found = self._shares.get(copies)
        if found is None:
            assert need.job is not None, "an image model is loaded on each card anyway"
            users = math.ceil(need.users / copies)
            job = job_of(need.job.shape, need.job.size.precision, replace(need.job.load, users=users), need.assumptions)
            found = self._shares[copies] = replace(need, users=users, job=job)
        return found
