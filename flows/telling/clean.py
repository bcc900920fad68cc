"""Text as it may be shown: no title of a shop moves a cursor, hides a word, links elsewhere or ends a line.

The one function for terminal, log, notifications and Prefect's artifacts.
"""

from __future__ import annotations

import re

# Whole sequences first (ECMA-48): what they carry is no text. Strings (titles, links: OSC 8) end with BEL or ST.
_SEQUENCES = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\n]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x90\x98\x9c\x9e\x9f\n]*(?:\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]"
)
# C0 but tab and new line, DEL, C1; marks, embeddings, overrides and isolates of direction (UAX 9); what has no width and no
# meaning here (Unicode's Default_Ignorable_Code_Point, but joiners and the two signs that make an emoji one); fillers of
# Korean syllables; interlinear notes; tags and the variations of plane 14, which spell a second, invisible text.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: What a clean text never holds; a tab and a new line are no harm, but lines are the caller's affair.
UNSAFE = re.compile(f"{_UNSEEN.pattern}|[\ud800-\udfff]|[\u2028\u2029]")
_LINES = re.compile("[\n\u2028\u2029]+")
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean(text: str, *, keep_lines: bool = False) -> str:
    """`text` without escape sequences, control characters and what turns or hides text; on one line unless `keep_lines`.

    Half of a character that was cut in two (a lone surrogate) becomes U+FFFD: no file and no terminal takes it.
    """
    if UNSAFE.search(text):
        text = _SURROGATES.sub("\ufffd", _UNSEEN.sub("", _SEQUENCES.sub("", text)))
    return text.replace("\u2028", "\n").replace("\u2029", "\n") if keep_lines else _LINES.sub(" ", text)
