"""Make text safe to show, so that no title of a shop can move the cursor, hide a word, add a link or end a line.

The terminal, the log, notifications and Prefect's artifacts all use this one function.
"""

from __future__ import annotations

import re

# Whole escape sequences (ECMA-48) go first, because what they carry is not text. Strings in them (titles, and links by
# OSC 8) end with BEL or ST.
_SEQUENCES = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\n]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x90\x98\x9c\x9e\x9f\n]*(?:\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]"
)
# C0 except tab and new line, DEL, C1; marks, embeddings, overrides and isolates of direction (UAX 9); characters without
# width and meaning here (Unicode's Default_Ignorable_Code_Point, except joiners and the two selectors that choose between
# text and emoji); fillers of Korean syllables; interlinear notes; tags and variations of plane 14, which can spell a second,
# invisible text.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: Characters that a clean text never contains. Tab and new line are harmless; the caller decides whether lines stay.
UNSAFE = re.compile(f"{_UNSEEN.pattern}|[\ud800-\udfff]|[\u2028\u2029]")
_LINES = re.compile("[\n\u2028\u2029]+")
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean(text: str, *, keep_lines: bool = False) -> str:
    """`text` without escape sequences, control characters and characters that turn or hide text.

    It is put on one line unless `keep_lines` is set. Half of a character that was cut in two (a lone surrogate) becomes
    U+FFFD, because no file and no terminal accepts it.
    """
    if UNSAFE.search(text):
        text = _SURROGATES.sub("\ufffd", _UNSEEN.sub("", _SEQUENCES.sub("", text)))
    return text.replace("\u2028", "\n").replace("\u2029", "\n") if keep_lines else _LINES.sub(" ", text)
