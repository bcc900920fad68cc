"""Which names lead to a model hub: `org/name`, `org/name:QUANT`, an Ollama tag (`name:tag`), or the address of a page."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

_WORD = r"[A-Za-z0-9][\w.-]{0,95}"
_NAME = re.compile(rf"(?:(?P<owner>{_WORD})/)?(?P<name>{_WORD})(?::(?P<tag>[\w.-]{{1,96}}))?", re.ASCII)
_HUBS = ("huggingface.co", "hf.co")
_OLLAMA = ("ollama.com", "registry.ollama.ai")
#: What stands before the name of a file in an address of one.
_OF_FILES = ("blob", "resolve", "raw")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model on a hub. `tag` is the quantisation, file or tag that was named, "" for none."""

    repository: str
    tag: str
    is_ollama: bool = False


def wanted(name: str, hub: str, ollama: str) -> Wanted | None:
    """What `name` names on the hub at the address `hub`, or in the Ollama library at `ollama`. None for any other name.

    A name alone (`qwen3`) names nothing there: only an owner, a tag or an address says that a hub is meant.
    """
    text = name.strip()
    has_scheme = text.startswith(("https://", "http://"))
    host, _, path = text.partition("://")[2].partition("/") if has_scheme else text.partition("/")
    host = host.lower().removeprefix("www.")
    is_hub = host in (*_HUBS, urlsplit(hub).netloc.lower())
    is_ollama = host in (*_OLLAMA, urlsplit(ollama).netloc.lower())
    if not (has_scheme or is_hub or is_ollama):
        match = _NAME.fullmatch(text)
        if match is None or not (match["owner"] or match["tag"]):
            return None
        return _wanted([match["owner"], match["name"]] if match["owner"] else ["library", match["name"]], match["tag"])
    if not (is_hub or is_ollama):
        return None
    words = re.split(r"[?#]", path.strip("/"), maxsplit=1)[0].split("/")
    named_file = words[-1] if len(words) > 3 and words[2] in _OF_FILES and words[-1].endswith(".gguf") else ""
    if is_ollama and len(words) == 1:
        words = ["library", *words]
    match = _NAME.fullmatch("/".join(words[:2]))
    if match is None or not match["owner"]:
        return None
    found = _wanted([match["owner"], match["name"]], match["tag"] or named_file)
    return Wanted(found.repository, found.tag, is_ollama)


def _wanted(words: Sequence[str], tag: str | None) -> Wanted:
    return Wanted("/".join(words), tag or "", is_ollama=words[0] == "library")


def own_machines(*addresses: str) -> dict[str, tuple[str, int]]:
    """The hubs at an IP address that the settings name, as `connect_to` of the client.

    Only these may be on this machine or in an inner network.
    """
    places: dict[str, tuple[str, int]] = {}
    for parts_of in map(urlsplit, addresses):
        host = parts_of.hostname or ""
        try:
            ipaddress.ip_address(host)
        except ValueError:
            continue
        places[host] = (host, parts_of.port or (443 if parts_of.scheme == "https" else 80))
    return places
