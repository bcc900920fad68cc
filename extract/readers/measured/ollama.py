"""The statistics that `ollama run --verbose` prints after an answer.

They name neither the card nor the number format; the model stands in the command if that was pasted too. A prompt of a few
words says nothing of the speed of reading. Source: ollama/ollama, api/types.go (Metrics.Summary).
"""

from __future__ import annotations

import re

from gpuledger.extract.readers.measured.figure import Figure, MeasurementFile, Said, amount, slug

FORMAT = "ollama run --verbose"
_COMMAND = re.compile(r"ollama run (?:--?\S+ )*([\w./:-]+)")
_COUNT = re.compile(r"^\s*(prompt )?eval count:\s+(\d+) token", re.MULTILINE)
_RATE = re.compile(r"^\s*(prompt )?eval rate:\s+([\d.]+) tokens/s", re.MULTILINE)
_TAG = re.compile(r"(?i)[-:](q\d(?:_\w+)*|fp16|bf16|mxfp4)\b")
#: The least prompt, in tokens, of which the speed of reading is one.
_PROMPT = 128


def is_text(text: str) -> bool:
    """Return whether the text has statistics of an answer."""
    return _RATE.search(text) is not None and _COUNT.search(text) is not None


def read_text(text: str, said: Said) -> MeasurementFile:
    """Return the rates of every answer in the text."""
    file = MeasurementFile(FORMAT)
    counts = [(match.start(), bool(match[1]), int(match[2])) for match in _COUNT.finditer(text)]
    for match in _RATE.finditer(text):
        is_prompt = bool(match[1])
        where = f"line {text.count(chr(10), 0, match.start(2)) + 1}"
        tokens = next((n for at, of_prompt, n in reversed(counts) if at < match.start() and of_prompt == is_prompt), 0)
        read = next((n for at, of_prompt, n in reversed(counts) if at < match.start() and of_prompt), 0)
        if is_prompt and tokens < _PROMPT:
            file.left_out.append(f"{where}: a prompt of {tokens} tokens is too short for a speed of reading")
            continue
        named = _COMMAND.findall(text, 0, match.start())
        model = said.model or (named[-1] if named else None)
        tag = _TAG.search(model or "")
        test = f"pp{tokens}" if is_prompt else f"tg{tokens}"
        what = "of prompt read" if is_prompt else f"written after {read}"
        file.figures.append(
            Figure(
                workload_id=slug("ollama", model, test, None if is_prompt or not read else f"d{read}"),
                workload=f"{model or 'a model without a name'} by ollama, {tokens} tokens {what}", unit="tokens/s",
                score=amount(match[2], "the rate", where), is_single_stream=not is_prompt, model=model,
                precision=said.precision or (tag[1].upper() if tag else None), software=said.software or "ollama",
                context_tokens=tokens if is_prompt else read + tokens, where=where,
            )
        )  # fmt: skip
    return file
