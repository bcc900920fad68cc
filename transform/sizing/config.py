"""Reads a Hugging Face style `config.json`: checks every number, and names every key that is missing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any

from gpuledger import local_files
from gpuledger.message import Label
from gpuledger.transform.sizing.errors import BadConfig, BadModelFile

#: The most layers or experts that a config may have. No published model has a tenth of that. Without this limit a typing
#: error could fill the memory with tensors.
_MOST_REPEATED = 20_000
_REPEATED = ("layers", "layer", "experts", "block_count", "expert_count", "expert_used_count")
#: The largest other number that a config may have, far above any width, vocabulary or context.
_MOST = 10**9


def read_json(path: Path, *, follow: bool = True) -> Mapping[str, object]:
    """The content of a `config.json`. Raises BadModelFile if it is not a JSON object.

    With `follow` the file may be a link, because the local copies of model hubs are links.
    """
    try:
        content = local_files.loads(local_files.read_bytes(path, follow=follow))
    except OSError as error:
        raise BadModelFile("{path} cannot be read ({why})", path=path, why=local_files.why(error)) from None
    except ValueError as error:
        raise BadModelFile(
            "{path} is not JSON ({error}); use the config.json that stands beside the weights", path=path, error=error
        ) from None
    if not isinstance(content, dict):
        raise BadModelFile("{path} holds no JSON object; use the config.json that stands beside the weights", path=path)
    return content


class Config:
    """One `config.json`, or a part of one, read key by key.

    The methods try several names in their order, since the same quantity has several names (`hidden_size`, `n_embd`).
    """

    def __init__(self, values: Mapping[str, object], model_type: str) -> None:
        self.values = values
        self.model_type = model_type

    def whole(self, *names: str, default: int | None = None) -> int:
        """A whole number above zero. Raises BadConfig if the value is anything else, or is absent and has no default."""
        value = self.optional_whole(*names)
        if value is not None:
            return value
        if default is None:
            raise BadConfig(
                "the config of model_type {model_type!r} has no {names: or }; use the config.json that stands beside "
                "the weights", model_type=self.model_type, names=tuple(names),
            )  # fmt: skip
        return default

    def optional_whole(self, *names: str) -> int | None:
        """A whole number above zero, or None if it is absent or null. Raises BadConfig if the value is anything else."""
        for name in names:
            value: int | None = self._typed(name, "a whole number above 0", int)
            if value is None:
                continue
            most = _MOST_REPEATED if name.endswith(_REPEATED) else _MOST
            if value > most:
                raise self._too_many(name, value, most)
            return value
        return None

    def flag(self, name: str, *, default: bool) -> bool:
        """True or false, `default` if it is absent or null. Raises BadConfig if the value is anything else."""
        value = self._typed(name, "true or false", bool)
        return default if value is None else value

    def text(self, name: str, *, default: str) -> str:
        """A text, `default` if it is absent or null. Raises BadConfig if the value is anything else."""
        value = self._typed(name, "text", str)
        return default if value is None else value

    def sequence(self, name: str) -> list[object] | None:
        """A list, or None if it is absent or null. Raises BadConfig if the value is anything else."""
        value = self._typed(name, "a list", list | tuple)
        return None if value is None else self.bounded(name, list(value))

    def bounded(self, name: str, entries: list[object]) -> list[object]:
        """The entries of a list. Raises BadConfig if they are more than a model has layers."""
        if len(entries) > _MOST_REPEATED and name != "tensors":
            raise self._too_many(name, len(entries), _MOST_REPEATED)
        return entries

    def part(self, name: str) -> Config | None:
        """A nested part (`text_config`), or None if it is absent or null."""
        value = self._typed(name, "an object", Mapping)
        return None if value is None else Config(value, self.model_type)

    def _typed(self, name: str, kind: str, types: type | UnionType) -> Any:
        """The value of a key, None if it is absent or null. Raises BadConfig if it is not of the `kind` of the `types`."""
        value: Any = self.values.get(name)
        is_right = isinstance(value, types)
        if types is int:
            is_right = is_right and not isinstance(value, bool) and value > 0
        if value is not None and not is_right:
            raise self.wrong(name, kind, value)
        return value

    def wrong(self, name: str, kind: str, value: object) -> BadConfig:
        """The refusal of a value that is not of the `kind` that the key has."""
        return BadConfig(
            "{name} of model_type {model_type!r} must be {kind}, not {value!r}", name=name, model_type=self.model_type,
            kind=Label(kind), value=value,
        )  # fmt: skip

    def _too_many(self, name: str, value: int, most: int) -> BadConfig:
        return BadConfig(
            "{name} of model_type {model_type!r} is {value:,}, and no model has over {most:,}", name=name,
            model_type=self.model_type, value=value, most=most,
        )  # fmt: skip

    def head_dim(self, hidden: int, heads: int) -> int:
        """Width of a head: as the config states it, else hidden / heads. Raises BadConfig if that does not divide."""
        stated = self.optional_whole("head_dim")
        if stated is not None:
            return stated
        if hidden % heads:
            raise BadConfig(
                "hidden size {hidden} of model_type {model_type!r} is not divisible by {heads} heads", hidden=hidden,
                model_type=self.model_type, heads=heads,
            )  # fmt: skip
        return hidden // heads
