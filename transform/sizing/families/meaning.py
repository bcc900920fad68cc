"""What the keys of a config mean: the one reader of `meaning.toml`, for config.json and GGUF heads alike."""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.errors import BadConfig


@functools.cache
def table() -> Mapping[str, Any]:
    """The tables of `meaning.toml`."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@functools.cache
def families() -> Mapping[str, Mapping[str, Any]]:
    """How the layers of each `model_type` differ from Llama's. A family that is `like` another has its differences too."""
    entries = table()["family"]

    def whole(entry: Mapping[str, Any]) -> dict[str, Any]:
        return {**(whole(entries[entry["like"]]) if "like" in entry else {}), **entry}

    return {model_type: whole(entry) for entry in entries.values() for model_type in entry["types"]}


@functools.cache
def _kind_of_word() -> Mapping[str, str]:
    return {word: kind for kind, words in table()["words"].items() for word in words}


@functools.cache
def _read() -> frozenset[str]:
    return frozenset((*itertools.chain.from_iterable(table()["keys"].values()), *table()["counting"]["harmless"]))


@dataclass(frozen=True, slots=True)
class LayerKind:
    """One layer: `mixer` is full, window, linear, conv or empty, `ffn` is dense, moe or empty."""

    mixer: str
    ffn: str


@dataclass
class Meaning:
    """The model of text in a config, whose numbers are asked for by what they mean.

    `notes` collects the keys that were not understood, for the weights and for the cache.
    """

    config: Config
    family: Mapping[str, Any]
    weights_note: str = ""
    cache_notes: dict[str, None] = field(default_factory=dict)

    def number(self, meaning: str, default: int | None = None) -> int:
        """A whole number above zero. Raises BadConfig, which names the usual key, if it is absent and has no default."""
        names = table()["keys"][meaning]
        return self.config.optional_whole(*names) or self.config.whole(names[0], default=default)

    def maybe(self, meaning: str) -> int | None:
        """A whole number above zero, None where the config has none, or has 0 or -1 as a way of saying so."""
        for name in table()["keys"][meaning]:
            given = self.config.values.get(name)
            if given in (None, 0, -1) or isinstance(given, list | tuple | Mapping):
                continue
            return self.config.whole(name)
        return None

    def no_limit(self, meaning: str, most: int) -> int:
        """`most` where the config does not state a limit, and a note of the key that would."""
        if self.maybe(meaning) is None:
            self.cache_notes[table()["keys"][meaning][0]] = None
        return most

    def each(self, meaning: str, layers: int, default: int | None = None) -> list[int]:
        """The number of each layer: some configs list it layer by layer."""
        for name in table()["keys"][meaning]:
            given = self.config.values.get(name)
            if isinstance(given, list | tuple) and given:
                numbers = [item for item in given if isinstance(item, int) and not isinstance(item, bool) and item >= 0]
                if len(numbers) != len(given) or max(numbers) > 10**9:
                    raise self.config.wrong(name, "a list", given)
                return [*numbers, *[numbers[-1]] * layers][:layers]
        if default is None:
            return [self.number(meaning)] * layers
        found = self.config.optional_whole(*table()["keys"][meaning])
        return [default or 0 if found is None else found] * layers

    def listed(self, meaning: str) -> list[Any] | None:
        """A list, or the letters of a text; None where the config has neither."""
        for name in table()["keys"][meaning]:
            given = self.config.values.get(name)
            if isinstance(given, list | tuple | str) and given:
                return self.config.bounded(name, list(given))
        return None

    def has(self, trait: str, *, default: bool = False) -> bool:
        """A difference of the family that is true or false, or that a key of the config decides."""
        stated = self.family.get(trait, default)
        if isinstance(stated, str):
            return self.config.flag(stated.rstrip("+"), default=stated.endswith("+"))
        return bool(stated)

    def unread(self) -> str:
        """The first key that counts something of the model, and that no reader knows; empty if there is none."""
        for key, value in self.config.values.items():
            numbers = value if isinstance(value, list | tuple) and value else [value]
            counts = all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)
            if counts and max(numbers) > 1 and key not in _read() and re.search(table()["counting"]["like"], key):
                return key
        return ""

    def kinds(self, layers: int) -> list[LayerKind]:
        """The kind of every layer."""
        if self.has("only_state"):
            return [LayerKind("linear", "")] * layers
        words = self.listed("types")
        named = [_kind_of_word().get(str(word), "") for word in words] if words else []
        if any(kind in ("ffn", "moe") for kind in named):  # such a layer is one block: either a mixer or a feed-forward
            ffn = {"ffn": "dense", "moe": "moe"}
            return [LayerKind("" if kind in ffn else kind or "full", ffn.get(kind, "")) for kind in named]
        mixers = list(self._mixers(layers, words, named))
        return [LayerKind(*both) for both in zip(mixers, self._ffns(layers), strict=True)]

    def _mixers(self, layers: int, words: list[Any] | None, named: list[str]) -> Iterator[str]:
        if words is not None and all(isinstance(word, str) for word in words):
            if len(words) < layers and not self.family:
                times = -(-layers // len(words))
                words, named = words * times, named * times  # a pattern that repeats
            if len(words) < layers:
                raise BadConfig(
                    "layer_types of model_type {model_type!r} names {count} layers of {layers}",
                    model_type=self.config.model_type, count=len(words), layers=layers,
                )  # fmt: skip
            for word, kind in zip(words[:layers], named, strict=False):
                if not kind:
                    self.cache_notes[f"layer type {word!r}"] = None
                yield kind or "full"
            return
        full, every, step = self.listed("full_layers"), self.maybe("every"), self.maybe("attention_step")
        every = every or self.family.get("every")
        ratios = self.ratios(layers)
        linear = "conv" if self.config.values.get("conv_L_cache") else "linear"
        for layer in range(layers):
            if ratios:
                is_chosen = ratios[layer] == min(filter(None, ratios), default=0) and self.maybe("index_head")
                yield "sparse" if is_chosen else "heavy"
            elif full is not None:
                yield "full" if layer in full else linear
            elif every is not None:
                yield "full" if (layer + 1) % every == 0 else "linear"
            elif step is not None:
                yield "full" if layer % step == (self.maybe("attention_offset") or 0) else "linear"
            else:
                yield "window" if self.is_local(layer, layers) else "full"

    def ratios(self, layers: int) -> list[int]:
        """How many tokens one entry behind the window of each layer stands for (0: there is none); empty if not stated.

        Source: DeepSeek-V4's own config.json, `compress_ratios`: 0, 4 (an index chooses among the entries) or 128.
        """
        ratios = self.listed("ratios") or []
        if any(isinstance(ratio, bool) or not isinstance(ratio, int) or ratio < 0 for ratio in ratios):
            raise self.config.wrong("compress_ratios", "a list", ratios)
        return [ratio if ratio > 1 else 0 for ratio in ratios[:layers]] if len(ratios) >= layers else []

    def is_local(self, layer: int, layers: int) -> bool:
        """Whether a layer attends within the window alone, where no list says it."""
        if self.maybe("window") is None or not self.has("window_switch", default=True):
            return False
        flags = self.listed("pattern")
        if flags is not None and len(flags) == layers:
            return bool(flags[layer])
        rule = str(self.family.get("windows", ""))
        if rule == "all":
            return True
        if rule.startswith("from "):
            return layer >= self.config.whole(rule.removeprefix("from "), default=layers)
        period = self.maybe("pattern") or self.family.get("pattern")
        if period is None:
            self.cache_notes["sliding_window"] = None  # a window, and no word of which layers have it
            return False
        return layer % period != period - 1 if rule != "pattern first" else layer % period == 0

    def _ffns(self, layers: int) -> Iterator[str]:
        types = self.listed("ffn_types")
        experts, step = self.maybe("experts"), self.maybe("expert_step") or 1
        offset = self.config.values.get("expert_layer_offset", step - 1)
        dense = set(self.config.sequence("mlp_only_layers") or ())
        first = self.maybe("first_dense") or 0
        for layer in range(layers):
            if not experts:
                yield "dense"
            elif types is not None and layer < len(types):
                yield "moe" if types[layer] in ("sparse", "moe", "hash_moe", 1) else "dense"
            else:
                yield "dense" if layer < first or layer in dense or layer % step != offset else "moe"
