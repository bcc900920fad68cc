"""Several users at once: how fast each gets an answer, and how long it takes until the first token.

Each of U users sends a prompt, gets the answer and sends the next prompt. While the machine reads a prompt, it writes for
nobody. So a round in which every user gets one answer takes
U × (time to read a prompt) + (tokens of an answer) × (time of a step for all users).
"""

from __future__ import annotations

from typing import NamedTuple

from gpuledger.transform.speed.predict import Prediction


class Serving(NamedTuple):
    """The speed that several users see.

    `first_token_s` is the time until the first token if the machine is otherwise free. `each_tokens_per_s` is the speed that
    a user sees while an answer is written, and `all_tokens_per_s` the speed of all users together. `read_share` is the part
    of the time that reading takes.
    """

    first_token_s: float
    each_tokens_per_s: float
    all_tokens_per_s: float
    read_share: float


def serving(prediction: Prediction, answer_tokens: int) -> Serving | None:
    """The steady state under the load of a prediction, from its expected speeds. None if one of the speeds is not known."""
    writing, reading = prediction.decode.expected, prediction.prefill.expected
    if not writing or not reading:
        return None
    users, prompt = prediction.job.load.users, prediction.job.load.prompt
    read_s, step_s = prompt / reading, users / writing
    round_s = users * read_s + answer_tokens * step_s
    return Serving(
        first_token_s=read_s + step_s,
        each_tokens_per_s=answer_tokens / (round_s - read_s),
        all_tokens_per_s=users * answer_tokens / round_s,
        read_share=users * read_s / round_s,
    )
