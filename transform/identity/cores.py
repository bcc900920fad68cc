"""Finds the core of a catalogue name: the words that a title must have before it can mean the card.

Names are built in a dozen ways (`GeForce RTX 3060 Ti`, `A100 SXM4`, `Radeon R9 290X`, `TITAN Xp`), each with a rule here.
A name that fits no rule has no core, and no title can mean it. Otherwise too many titles would match `Intel Graphics` or
`Wonder`.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuledger.transform.identity import text

#: Words that are separate from the number behind them: `rtx4090` is two words, but `a100` is one.
SEPARATE = frozenset((
    "rtx", "gtx", "gt", "gts", "rx", "hd", "wx", "fx", "nvs", "cmp", "mx", "geforce", "radeon", "quadro", "tesla", "vega",
    "titan", "arc", "firepro", "firegl", "firemv", "instinct", "nvidia", "amd", "ati", "intel", "uhd", "iris", "mobility",
    "pro", "graphics",
))  # fmt: skip
#: Prefixes that form a core together with the number behind them.
NUMBERED = frozenset(("rtx", "gtx", "gt", "gts", "rx", "hd", "wx", "fx", "nvs", "cmp", "mx", "uhd", "r5", "r7", "r9"))
#: Lines that form a core together with a bare number: `GeForce 210`, `Quadro 4000`, `Arc 140V`.
LINES = frozenset(("geforce", "radeon", "quadro", "firepro", "firegl", "firemv", "pro", "tesla", "arc"))


@dataclass(frozen=True, slots=True)
class NameParts:
    """The core of a name and its other words."""

    core: tuple[str, ...]
    other_words: tuple[str, ...]


def name_words(name: str) -> list[str]:
    """Split a catalogue name into the same pieces as titles. Letters stay with a number only if both are a name (`a100`)."""
    words: list[str] = []
    for word in text.split_words(text.normalise(name)):
        parts = text.pieces(word)
        while parts:
            head = parts.pop(0)
            if head.isalpha() and head not in SEPARATE and parts and parts[0][0].isdigit():
                head += parts.pop(0)
            words.append(head)
    return words


def parts(name: str) -> NameParts | None:
    """The core and the other words of a name without its memory size; None if no title can mean it."""
    words = name_words(name)
    for rule in (_phrase, _vega, _numbered, _line_number, _joined):
        name_parts = rule(words)
        if name_parts:
            return name_parts
    return None


def _without(words: list[str], *left_out: str) -> tuple[str, ...]:
    return tuple(word for word in words if word not in left_out)


def _phrase(words: list[str]) -> NameParts | None:
    """Names without a number, and names whose number alone says too little."""
    if "titan" in words:
        # "pascal" is the chip's architecture, which the resolver compares anyway. "gtx" stays, as the older TITAN X has it.
        return NameParts(("titan",), _without(words, "titan", "geforce", "pascal", "edition"))
    if "fury" in words and "r9" in words:
        return NameParts(("fury",), _without(words, "fury", "r9", "radeon"))
    if "nano" in words and "r9" in words:
        return NameParts(("r9", "nano"), ())
    if "vii" in words:
        return NameParts(("pro" if "pro" in words else "radeon", "vii"), ())
    if "duo" in words and "pro" in words and "vega" not in words and not any(word[-1].isdigit() for word in words):
        return NameParts(("pro", "duo"), _without(words, "radeon", "pro", "duo"))
    if "jetson" in words:
        return NameParts(tuple(words), ())
    for product in ("max", "flex"):
        if "gpu" in words and product in words:
            return NameParts(tuple(words[words.index("gpu") :]), ())
    if "hd" in words and "graphics" in words:
        number = words[-2] if words[-1] == "mobile" else words[-1]
        return (
            NameParts(("hd", "graphics", number), _without(words, "intel", "hd", "graphics", number))
            if number[-1].isdigit()
            else None
        )
    return None


def _vega(words: list[str]) -> NameParts | None:
    if "vega" not in words or "m" in words:
        return None
    position = words.index("vega")
    if position + 1 == len(words):
        return None
    after = words[position + 1]
    # "pro" stays among the other words: Radeon Pro Vega 56 and RX Vega 56 are different cards.
    return NameParts(("vega", after), _without(words, "rx", "radeon", "vega", after))


def _numbered(words: list[str]) -> NameParts | None:
    if words[0] == "iris":
        return None
    words = [word for word in words if word != "graphics"]
    for position, word in enumerate(words[:-1]):
        after = words[position + 1]
        # "RTX PRO 4000 Blackwell" has the core of "RTX 4000": shops write the words in any order.
        if after == "pro" and word == "rtx" and position + 2 < len(words):
            words = [*words[: position + 1], words[position + 2], "pro", *words[position + 3 :]]
            after = words[position + 1]
        if word.isdigit() and len(word) >= 3:
            return None  # `8800 GTS 640`: the number stands before the prefix
        if word in NUMBERED and (
            (after.isdigit() and len(after) >= 2)
            or (word in ("r5", "r7", "r9") and after[0] in "am" and after[-1].isdigit())
        ):
            return NameParts((word, after), (*words[:position], *words[position + 2 :]))
    return None


def _joined(words: list[str]) -> NameParts | None:
    for position, word in enumerate(words):
        letters = word.rstrip("0123456789")
        if 1 <= len(letters) <= 2 and letters != word and letters.isalpha() and (letters != "r" or len(word) == 5):
            return NameParts((word,), (*words[:position], *words[position + 1 :]))
    return None


def _line_number(words: list[str]) -> NameParts | None:
    for position, word in enumerate(words):
        if word.isdigit() and len(word) >= 3:
            line = next((before for before in reversed(words[:position]) if before in LINES), None)
            if line:
                return NameParts((line, word), (*words[:position], *words[position + 1 :]))
            return None
    return None
