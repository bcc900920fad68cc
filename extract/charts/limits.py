"""The limits of size, time and memory for one picture, and the error for pictures that cannot be read."""

from __future__ import annotations

#: Real charts have 1,000 to 4,000 pixels a side.
LONGEST_SIDE = 8_000
MOST_PIXELS = 16_000_000
MOST_BYTES = 20_000_000
#: A narrower picture shows the ends of bars too coarsely to prove a number by its bar.
LEAST_WIDTH = 1_000
#: Seconds of processor time for one picture, including the start of the process. One thread reads, so the caller waits at
#: least as long.
MOST_SECONDS = 55
#: Seconds of real time after which we give up, on a machine that is too busy to give the process its processor time.
MOST_WAIT = 300
#: Bytes of memory that the process may use for its data.
MOST_MEMORY = 1_500_000_000


class BadPicture(Exception):
    """Nothing can be read from this picture. `code` is the code for an issue."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
