"""Several people at once: how fast each is answered, how long until the first token, and what a token costs.

Each of U users sends a prompt, gets an answer and sends the next. While one prompt is read nobody writes, so a round in
which every user is answered once takes U × (time of a prompt) + (tokens of an answer) × (time of a step of all).
"""

from __future__ import annotations

from typing import NamedTuple

from gpuledger.transform.speed.predict import Prediction


class Serving(NamedTuple):
    """`first_token_s` until the first token where the machine is otherwise free, `each_tokens_per_s` what a user sees while
    an answer is written, `all_tokens_per_s` written for all, `read_share` the part of the time that reading takes.
    """

    first_token_s: float
    each_tokens_per_s: float
    all_tokens_per_s: float
    read_share: float


def serving(prediction: Prediction, answer_tokens: int) -> Serving | None:
    """The load of a prediction in a steady state, by the expected speeds; None where one of them is not known."""
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
