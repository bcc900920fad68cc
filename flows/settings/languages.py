"""The languages of headings and messages, in a module of their own as the settings and the catalogues both need them."""

from __future__ import annotations

#: ISO 639 codes.
LANGUAGES = ("en", "ko")
