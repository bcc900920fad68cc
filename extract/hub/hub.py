"""Asks a model hub what says the size of a model: its list of files, its config, and the heads of its weights.

The answers go into the archive, and into a folder that looks like a download of the model, without the weights themselves.
The polite client does the asking. Source of the addresses and of what their answers mean: huggingface/huggingface_hub,
src/huggingface_hub/hf_api.py and utils/_http.py (commit 01dd37b, read 2026-11-25); of those of Ollama: ollama/ollama,
server/internal/manifest/manifest.go, and its library's manifests as danielvie/code, ollama/ollama.md, asks for them.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from gpuledger import local_files
from gpuledger.errors import Blocked, FetchError, NotFound
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.fetch.http import Client
from gpuledger.extract.hub.named import Wanted
from gpuledger.extract.hub.weight_types import MOST_PARTS, TOO_MANY_PARTS
from gpuledger.message import Message

#: The log of the archive in which the answers stand.
ARCHIVED_AS = "model_hub"
#: The largest answer: an index of 200,000 tensors has 20 MB.
MAX_BODY_BYTES = 64_000_000
#: Bytes in which the head of a file fits: of GGUF with the words of a tokenizer in the first part, of safetensors without.
_GGUF_HEAD, _NEXT_PART, _SAFETENSORS_HEAD = 24_000_000, 1_000_000, 4_000_000
_INDEX, _SINGLE = "model.safetensors.index.json", "model.safetensors"
#: What names the parts of a model of pictures, and the weights of a part, without those of a variant.
_PIPELINE = "model_index.json"
_OF_PART = re.compile(r"(?:diffusion_pytorch_model|model)(?:-\d{5}-of-\d{5})?\.safetensors")
_PART = re.compile(r"-\d{5}-of-\d{5}(?=\.gguf$)")
#: What llama.cpp takes of a repository if nobody names a quantisation (common/arg.cpp, --hf-repo).
_USUAL = "Q4_K_M"
#: Files whose sizes may differ by this share from what an index says. Their heads are in the one and not in the other.
_ALIKE = 0.02
_MOST_NAMED = 8
_NO_MODEL = "{name} on the model hub holds no config.json, no model_index.json and no GGUF file; it has {files:, }"


class HubError(Exception):
    """The hub was of no help. Its Message says why, and what a person can do about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """A model hub at `address` and an Ollama library at `ollama`. `key` is the access token of a person, "" for none."""

    client: Client
    archive: Archive
    now: Callable[[], datetime]
    address: str
    ollama: str
    key: str = ""
    #: Seconds for all files of a repository together, on the `clock`, and when each was asked for.
    deadline_s: float = 300
    clock: Callable[[], float] = time.monotonic
    asked: list[float] = field(default_factory=list)

    def bring(self, wanted: Wanted, folder: Path) -> None:
        """Write into `folder` what says the size of a model. Raises HubError."""
        page = f"{self.ollama if wanted.is_ollama else self.address}/{wanted.repository}"
        self.asked[:] = [self.clock()]
        try:
            if wanted.is_ollama:
                self._tag(wanted, folder)
            else:
                self._repository(wanted, folder)
        except NotFound:
            raise HubError(
                Message("the model hub has no {name}, or none that everybody may see", name=wanted.repository)
            ) from None
        except Blocked as error:
            if "status 401" not in error.seen and "status 403" not in error.seen:
                raise HubError(Message("the model hub gave no answer: {why}", why=str(error))) from None
            raise HubError(
                Message(
                    "the access token in GPULEDGER_HUB_TOKEN does not open it, or there is no such model: look "
                    "whether the token is right, and agree to the terms at {page}"
                    if self.key
                    else "the model hub gives it only to those who agreed to its terms: agree at {page}, and set "
                    "GPULEDGER_HUB_TOKEN to your access token",
                    page=page,
                )
            ) from None
        except FetchError as error:
            raise HubError(Message("the model hub gave no answer: {why}", why=str(error))) from None

    def _repository(self, wanted: Wanted, folder: Path) -> None:
        sizes = _sizes(self._json(f"{self.address}/api/models/{wanted.repository}?blobs=true"))
        ggufs = [name for name in sizes if name.endswith(".gguf") and not PurePosixPath(name).name.startswith("mmproj")]
        if ggufs and not any(name.endswith(".safetensors") for name in sizes):
            parts = _of_quant(ggufs, wanted)
            if len(parts) > MOST_PARTS:
                raise HubError(Message(TOO_MANY_PARTS, what=wanted.repository, count=len(parts), most=MOST_PARTS))
            for number, name in enumerate(parts):
                self._keep(wanted, name, folder, _NEXT_PART if number else _GGUF_HEAD)
        elif _PIPELINE in sizes:
            self._pipeline(wanted, sizes, folder)
        elif "config.json" not in sizes:
            raise HubError(Message(_NO_MODEL, name=wanted.repository, files=tuple([*sizes][:_MOST_NAMED])))
        else:
            self._keep(wanted, "config.json", folder)
            if _INDEX in sizes:
                index = self._json(self._file(wanted, _INDEX))
                (folder / _INDEX).write_text(json.dumps({"metadata": {"total_size": _total(index, sizes)}}))
            elif _SINGLE in sizes:
                self._keep(wanted, _SINGLE, folder, _SAFETENSORS_HEAD)

    def _pipeline(self, wanted: Wanted, sizes: Mapping[str, int], folder: Path) -> None:
        """The parts of a model of pictures: the head of a part's weights, or the size of its files if they are several."""
        self._keep(wanted, _PIPELINE, folder)
        files: dict[str, list[str]] = {}
        for name in sizes:
            part, _, file = name.partition("/")
            if part and _OF_PART.fullmatch(file):
                files.setdefault(part, []).append(name)
        for part, names in files.items():
            (folder / part).mkdir(exist_ok=True)
            if f"{part}/config.json" in sizes and not part.startswith("text"):
                self._keep(wanted, f"{part}/config.json", folder / part)
            if len(names) == 1:
                self._keep(wanted, names[0], folder / part, _SAFETENSORS_HEAD)
            else:
                total = sum(sizes[name] for name in names)
                (folder / part / _INDEX).write_text(json.dumps({"metadata": {"total_size": total}}))

    def _tag(self, wanted: Wanted, folder: Path) -> None:
        base = f"{self.ollama}/v2/{wanted.repository}"
        manifest = self._json(f"{base}/manifests/{wanted.tag or 'latest'}")
        for layer in _listed(manifest, "layers"):
            if layer.get("mediaType") == "application/vnd.ollama.image.model":
                content = self._content(f"{base}/blobs/{quote(str(layer.get('digest')), safe=':')}", _GGUF_HEAD)
                (folder / "model.gguf").write_bytes(content)
                return
        raise HubError(Message(_NO_MODEL, name=wanted.repository, files=("",)))

    def _file(self, wanted: Wanted, name: str) -> str:
        return f"{self.address}/{wanted.repository}/resolve/main/{quote(name)}"

    def _keep(self, wanted: Wanted, name: str, folder: Path, first_bytes: int | None = None) -> None:
        content = self._content(self._file(wanted, name), first_bytes)
        (folder / PurePosixPath(name).name).write_bytes(content)

    def _json(self, url: str) -> Mapping[str, Any]:
        try:
            answer = local_files.loads(self._content(url))
            if not isinstance(answer, dict):
                raise ValueError("no JSON object")
        except ValueError as error:
            raise HubError(
                Message("the model hub's answer cannot be read: {url}: {why}", url=url, why=str(error))
            ) from None
        return answer

    def _content(self, url: str, first_bytes: int | None = None) -> bytes:
        # A key is for the hub alone: the Ollama library asks for none.
        key = self.key if url.startswith(f"{self.address}/") else None
        self.asked.append(self.clock())
        if len(self.asked) > MOST_PARTS or self.asked[-1] - self.asked[0] > self.deadline_s:
            raise HubError(Message(
                "it has more than {count} files, or they take over {seconds:.0f} seconds: fetch its config.json into "
                "a folder, and give the folder", count=MOST_PARTS, seconds=self.deadline_s,
            ))  # fmt: skip
        fetched = self.client.fetch_file(url, key=key, first_bytes=first_bytes)
        self.archive.save(ARCHIVED_AS, fetched, self.now())
        return fetched.content


def _listed(answer: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    entries = answer.get(name)
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _sizes(answer: Mapping[str, Any]) -> dict[str, int]:
    """Bytes of each file of a repository, 0 if the hub does not say. A name that leads out of its folder is left out."""
    sizes: dict[str, int] = {}
    for entry in _listed(answer, "siblings"):
        name, size = entry.get("rfilename"), entry.get("size")
        if isinstance(name, str) and name.isprintable() and ".." not in name and "\\" not in name:
            sizes[name] = size if isinstance(size, int) and size > 0 else 0
    return sizes


def _of_quant(files: Sequence[str], wanted: Wanted) -> list[str]:
    """The GGUF file of the quantisation that was named, in all its parts; else of the usual one, else the first."""
    tag = wanted.tag or _USUAL
    has_tag = re.compile(rf"(^|[-._/]){re.escape(tag.removesuffix('.gguf'))}([-._/]|$)", re.IGNORECASE)
    of_tag = sorted(name for name in files if has_tag.search(name))
    if not of_tag and wanted.tag:
        raise HubError(Message(
            "{name} on the model hub has no file of {tag}; it has {files:, }", name=wanted.repository, tag=tag,
            files=tuple(sorted(files)[:_MOST_NAMED]),
        ))  # fmt: skip
    first = (of_tag or sorted(files))[0]
    series = _PART.sub("", first)
    return [name for name in sorted(files) if _PART.sub("", name) == series]


def _total(index: Mapping[str, Any], sizes: Mapping[str, int]) -> int:
    """Bytes of the weights as an index says, unless the files themselves are larger or smaller: then those of the files."""
    metadata, parts = index.get("metadata"), index.get("weight_map")
    stated = metadata.get("total_size") if isinstance(metadata, dict) else None
    names = {str(name) for name in parts.values()} if isinstance(parts, dict) else set()
    listed = sum(sizes.get(name, 0) for name in names) if all(sizes.get(name) for name in names) else 0
    if isinstance(stated, int | float) and stated > 0 and (not listed or abs(stated / listed - 1) < _ALIKE):
        return int(stated)
    return listed
