"""How large a picture may be and what reading it may cost, with the errors that say so."""

from __future__ import annotations

#: Real charts have 1,000 to 4,000 pixels a side.
LONGEST_SIDE = 8_000
MOST_PIXELS = 16_000_000
MOST_BYTES = 20_000_000
#: A smaller picture shows a bar's end too coarsely to prove a reading by it.
LEAST_WIDTH = 1_000
#: Seconds of processor that one picture may take, start of the process included; one thread reads, so it waits no less.
MOST_SECONDS = 55
#: Seconds after which it is given up on a machine that is too busy to give it those.
MOST_WAIT = 300
#: Bytes of memory that the process may use for its data.
MOST_MEMORY = 1_500_000_000


class BadPicture(Exception):
    """Nothing can be read from this picture; `code` is an issue's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
