"""Models by name from a model hub: a real hub on loopback, asked by the real command."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.hub.hub import ARCHIVED_AS, Hub, HubError
from gpuledger.extract.hub.named import Wanted, wanted
from gpuledger.flows import cli
from gpuledger.flows.doors.agent.tools import Tools
from gpuledger.flows.doors.asking.from_hub import bring
from gpuledger.flows.night.context import utc_now
from gpuledger.flows.settings import parts
from gpuledger.warehouse.paths import DataDir
from tests.command import Outcome, gpuledger, succeeds
from tests.extract.faulty_server import Exchange, FaultyServer, Route
from tests.flows.test_size import CONFIG, PARAMETERS
from tests.nights import Night
from tests.transform.test_gguf_file import head, of, tensor

NAME = "somebody/New-Model-1B"


class LoopbackHub(FaultyServer):
    """A hub with the files that a test puts there. It gives parts of files, as the real one does."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[str, dict[str, int]] = {}

    @property
    def env(self) -> dict[str, str]:
        address = f"http://127.0.0.1:{self.port}"
        return {"GPULEDGER_HUB": address, "GPULEDGER_OLLAMA": address, "GPULEDGER_DELAY_S": "0"}

    def put(self, repository: str, name: str, content: bytes | Route, size: int | None = None) -> None:
        """One file; `size` is what the list of files says of it."""
        sizes = self.sizes.setdefault(repository, {})
        sizes[name] = size if size is not None else len(content) if isinstance(content, bytes) else 0
        self.routes[f"/{repository}/resolve/main/{name}"] = file_of(content) if isinstance(content, bytes) else content
        siblings = [{"rfilename": name, "size": size} for name, size in sizes.items()]
        self.routes[f"/api/models/{repository}"] = file_of(json.dumps({"siblings": siblings}).encode())


def file_of(content: bytes) -> Route:
    def give(exchange: Exchange) -> None:
        asked = exchange.headers.get("range")
        if asked is None:
            exchange.reply(200, content, {"Content-Type": "application/octet-stream"})
            return
        last = min(int(asked.partition("-")[2]), len(content) - 1)
        stated = {"Content-Range": f"bytes 0-{last}/{len(content)}", "Content-Type": "application/octet-stream"}
        exchange.reply(206, content[: last + 1], stated)

    return give


def safetensors(tensors: dict[str, tuple[str, list[int]]]) -> bytes:
    stated = json.dumps({name: {"dtype": kind, "shape": shape} for name, (kind, shape) in tensors.items()}).encode()
    return struct.pack("<Q", len(stated)) + stated


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    with LoopbackHub() as server:
        yield server


@pytest.fixture
def size(hub: LoopbackHub, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    def ask(*words: object, **more: str) -> dict[str, Any]:
        outcome = succeeds("size", *words, "--format", "json", data=tmp_path / "data", env=hub.env | more)
        return {row["quantity"]: row["value"] for row in json.loads(outcome.out)}

    return ask


@pytest.fixture
def refused(hub: LoopbackHub, tmp_path: Path) -> Callable[..., str]:
    def ask(*words: object, **more: str) -> str:
        outcome: Outcome = gpuledger(*words, data=tmp_path / "data", env=hub.env | more)
        assert (outcome.status, outcome.out) == (2, ""), outcome.err
        return " ".join(outcome.err.split())

    return ask


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Qwen/Qwen9-8B", Wanted("Qwen/Qwen9-8B", "")),
        ("Qwen/Qwen9-8B-GGUF:Q4_K_M", Wanted("Qwen/Qwen9-8B-GGUF", "Q4_K_M")),
        ("hf.co/Qwen/Qwen9-8B-GGUF:Q8_0", Wanted("Qwen/Qwen9-8B-GGUF", "Q8_0")),
        ("https://huggingface.co/Qwen/Qwen9-8B/tree/main?x=1", Wanted("Qwen/Qwen9-8B", "")),
        ("https://huggingface.co/a/b/blob/main/b-Q6_K.gguf", Wanted("a/b", "b-Q6_K.gguf")),
        ("https://hub.example/a/b", Wanted("a/b", "")),
        ("qwen9:8b", Wanted("library/qwen9", "8b", is_ollama=True)),
        ("https://ollama.com/library/qwen9:8b", Wanted("library/qwen9", "8b", is_ollama=True)),
        ("https://ollama.com/somebody/qwen9", Wanted("somebody/qwen9", "", is_ollama=True)),
        ("qwen9", None), ("qwen 9/8b", None), ("a/b/c", None), ("../../etc", None), ("https://elsewhere.example/a/b", None),
        ("https://huggingface.co/", None), ("", None), ("a/..", None),
    ],
)  # fmt: skip
def test_a_name_says_whether_a_hub_is_meant(name: str, found: Wanted | None) -> None:
    assert wanted(name, "https://hub.example", "https://registry.ollama.ai") == found


def test_a_model_is_fetched_once_and_then_known(
    hub: LoopbackHub, size: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    hub.put(NAME, "config.json", json.dumps(CONFIG).encode())
    assert size(NAME)["parameters"] == PARAMETERS
    assert hub.paths() == [f"/api/models/{NAME}?blobs=true", f"/{NAME}/resolve/main/config.json"]
    archive = Archive(tmp_path / "data" / "snapshots")
    assert [len(archive.content_of(snapshot.sha256)) > 0 for snapshot in archive.history(ARCHIVED_AS)] == [True, True]
    assert size(NAME, GPULEDGER_OFFLINE="true")["parameters"] == PARAMETERS
    predicted = gpuledger(
        "predict", "--gpu", "RTX 4090", "--model", NAME, "--context", "128", "--format", "json",
        data=tmp_path / "data", env=hub.env,
    )  # fmt: skip
    assert json.loads(predicted.out)["verdict"] == "fits", predicted.err
    assert len(hub.paths()) == 2, "a question about a model that is known asks nobody"


def test_a_model_is_added_by_its_name(hub: LoopbackHub, tmp_path: Path) -> None:
    hub.put(NAME, "config.json", json.dumps(CONFIG).encode())
    added = succeeds("model", "add", NAME, "--id", "mine", data=tmp_path / "data", env=hub.env)
    assert f"mine: {PARAMETERS:,} parameters" in added.out
    for words in (("Qwen/Qwen3-8B",), ("typo", "--id", "mine")):
        assert gpuledger("model", "add", *words, data=tmp_path / "data", env=hub.env).status == 2
    assert len(hub.paths()) == 2


def test_the_only_file_says_the_bytes_exactly(hub: LoopbackHub, size: Callable[..., dict[str, Any]]) -> None:
    hub.put(NAME, "config.json", json.dumps(CONFIG).encode())
    tensors = {
        "model.embed_tokens.weight": ("BF16", [1000, 64]),
        "model.layers.0.mlp.up_proj.weight": ("BF16", [128, 64]),
    }
    hub.put(NAME, "model.safetensors", safetensors(tensors) + b"\0" * 5_000_000)
    assert size(NAME)["weights"] == 2 * (64_000 + 8_192)
    assert hub.asked[-1].headers["range"] == "bytes=0-3999999"


@pytest.mark.parametrize(("listed", "bytes_of_weights"), [(0, 600_000), (606_000, 600_000), (400_000, 400_000)])
def test_an_index_is_believed_unless_the_files_have_another_size(
    hub: LoopbackHub, size: Callable[..., dict[str, Any]], listed: int, bytes_of_weights: int
) -> None:
    part = "model-00001-of-00001.safetensors"
    index = {"metadata": {"total_size": 600_000}, "weight_map": {f"layers.{n}.w": part for n in range(200_000)}}
    hub.put(NAME, "config.json", json.dumps(CONFIG).encode())
    hub.put(NAME, "model.safetensors.index.json", json.dumps(index).encode())
    hub.put(NAME, part, b"", size=listed)
    assert size(NAME)["weights"] == pytest.approx(bytes_of_weights, rel=0.001)
    assert len(hub.paths()) == 3


def test_ten_parts_of_the_quantisation_that_was_named_make_one_model(
    hub: LoopbackHub, size: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    shape, values = of("llama-3-8b")
    tensors = [tensor(one) for one in shape.tensors]
    for number in range(1, 11):
        content = head(values if number == 1 else {}, tensors[number - 1 :: 10]) + b"\0" * 2_000_000
        hub.put("a/b-GGUF", f"BF16/b-BF16-{number:05}-of-00010.gguf", content)
    hub.put("a/b-GGUF", "b-Q4_K_M.gguf", b"not asked for")
    hub.put("a/b-GGUF", "mmproj-b-BF16.gguf", b"not asked for")
    assert size("a/b-GGUF:bf16")["parameters"] == sum(one.parameters for one in shape.tensors)
    assert len(hub.paths()) == 11
    asked = ("predict", "--gpu", "RTX 4090", "--model", "a/b-GGUF:bf16", "--format", "json")
    predicted = gpuledger(*asked, data=tmp_path / "data", env=hub.env)
    assert json.loads(predicted.out)["precision"] == "bf16", predicted.err


def test_an_ollama_tag_leads_to_its_file(hub: LoopbackHub, size: Callable[..., dict[str, Any]]) -> None:
    shape, values = of("qwen2.5-7b")
    layers = [{"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:1"},
              {"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:2"}]  # fmt: skip
    hub.routes["/v2/library/newer/manifests/7b"] = file_of(json.dumps({"layers": layers}).encode())
    hub.routes["/v2/library/newer/blobs/sha256:2"] = lambda exchange: exchange.reply(
        307, headers={"Location": "/cdn/2"}
    )
    hub.routes["/cdn/2"] = file_of(head(values, [tensor(one) for one in shape.tensors]))
    assert size("newer:7b")["parameters"] == sum(one.parameters for one in shape.tensors)


def test_a_gated_model_says_which_key_is_missing_and_opens_with_it(
    hub: LoopbackHub, size: Callable[..., dict[str, Any]], refused: Callable[..., str]
) -> None:
    def gated(exchange: Exchange) -> None:
        if exchange.headers.get("authorization") != "Bearer hf_right":
            exchange.reply(403 if "authorization" in exchange.headers else 401, b"{}")
        else:
            exchange.reply(200, json.dumps(CONFIG).encode(), {"Content-Type": "application/json"})

    hub.put(NAME, "config.json", gated)
    without = refused("predict", "--gpu", "RTX 4090", "--model", NAME)
    assert f"agree at http://127.0.0.1:{hub.port}/{NAME}, and set GPULEDGER_HUB_TOKEN" in without
    assert "Fetch its config.json" in without
    assert "동의하고 GPULEDGER_HUB_TOKEN" in refused("size", NAME, "--lang", "ko")
    wrong = refused("size", NAME, GPULEDGER_HUB_TOKEN="hf_wrong")
    assert "does not open it" in wrong
    assert "hf_wrong" not in wrong
    assert size(NAME, GPULEDGER_HUB_TOKEN="hf_right")["parameters"] == PARAMETERS


def test_the_settings_of_the_folder_that_is_named_say_which_hub_is_asked(hub: LoopbackHub, tmp_path: Path) -> None:
    """`--data-dir` named a folder whose `hub`, `offline` and assumptions nobody read."""
    hub.put(NAME, "config.json", json.dumps(CONFIG).encode())
    folder, elsewhere = tmp_path / "named", {"GPULEDGER_DELAY_S": "0"}
    folder.mkdir()
    asked = ("size", NAME, "--format", "json")
    file = folder / "gpuledger.toml"
    file.write_text(f'hub = "{hub.env["GPULEDGER_HUB"]}"\noffline = true\n[assumptions]\nkv_cache_bits = 8\n')
    assert "was not asked, since the setting `offline` is true" in gpuledger(*asked, data=folder, env=elsewhere).err
    file.write_text(file.read_text().replace("offline = true", ""))
    eight = json.loads(succeeds(*asked, data=folder, env=elsewhere).out)
    sixteen = json.loads(succeeds(*asked, "--assume", "kv_cache_bits=16", data=folder, env=elsewhere).out)
    assert eight != sixteen
    count = len(hub.asked)
    gpuledger(
        "size", "somebody/other-1B", "--data-dir", "named", cwd=tmp_path, env={**elsewhere, "GPULEDGER_OFFLINE": "1"}
    )
    assert (len(hub.asked), count > 0) == (count, True), "a folder named by a relative path was only found"


@pytest.mark.parametrize("other", ["host", "port"])
def test_the_key_does_not_go_where_a_redirect_leads(hub: LoopbackHub, tmp_path: Path, other: str) -> None:
    port = hub.port if other == "host" else hub.port - 1
    there = f"http://cdn.test:{hub.port}/config" if other == "host" else f"http://hub.test:{port}/config"
    hub.put(NAME, "config.json", lambda exchange: exchange.reply(302, headers={"Location": there}))
    hub.routes["/config"] = file_of(json.dumps(CONFIG).encode())
    places = dict.fromkeys(("hub.test", "cdn.test"), ("127.0.0.1", hub.port))
    with Client(HttpSettings(delay_s=0, connect_to=places)) as client:
        asked = Hub(
            client=client, archive=Archive(tmp_path / "archive"), now=utc_now, address=f"http://hub.test:{hub.port}",
            ollama="http://hub.test", key="hf_secret",
        )  # fmt: skip
        asked.bring(Wanted(NAME, ""), tmp_path)
    assert json.loads((tmp_path / "config.json").read_text()) == CONFIG
    keys = {exchange.path: exchange.headers.get("authorization") for exchange in hub.asked}
    assert keys[f"/{NAME}/resolve/main/config.json"] == "Bearer hf_secret"
    assert keys["/config"] is None
    assert b"hf_secret" not in b"".join(path.read_bytes() for path in (tmp_path / "archive" / "log").iterdir())


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "has no somebody/New-Model-1B"),
        ({"README.md": b"x"}, "holds no config.json, no model_index.json and no GGUF file; it has README.md"),
        ({"a-Q8_0.gguf": b"x"}, "has no file of Q4_0; it has a-Q8_0.gguf"),
        ({"config.json": b"[" * 100_000}, "nested too deeply"),
        ({"config.json": b"[1, 2]"}, "holds no JSON object"),
        ({"config.json": json.dumps({**CONFIG, "num_hidden_layers": 10**11}).encode()}, "num_hidden_layers"),
        ({"config.json": json.dumps({**CONFIG, "hidden_size": "64"}).encode()}, "hidden_size"),
        ({"config.json": json.dumps({**CONFIG, "num_hidden_layers": 1e308}).encode()}, "num_hidden_layers"),
        ({"config.json": json.dumps(CONFIG).encode(), "model.safetensors": b"\xff" * 9000}, "model.safetensors"),
        ({"config.json": json.dumps(CONFIG).encode(), "model.safetensors.index.json": b"[]"}, "no JSON object"),
        ({"a-Q4_0.gguf": b"GGUF" + b"\xff" * 9000}, "a-Q4_0.gguf"),
        ({"../../a.json": b"x", "a\\b": b"x"}, "holds no config.json, no model_index.json and no GGUF file"),
    ],
)
def test_a_hub_of_no_help_says_why_and_what_does_as_well(
    hub: LoopbackHub, refused: Callable[..., str], tmp_path: Path, files: dict[str, bytes], why: str
) -> None:
    for name, content in files.items():
        hub.put(NAME, name, content)
    message = refused("size", f"{NAME}:Q4_0")
    assert why in message
    assert "Fetch its config.json" in message
    assert not [*(tmp_path / "data").glob("models/*")]


def test_nobody_is_asked_offline_or_for_a_name_that_names_no_hub(
    hub: LoopbackHub, refused: Callable[..., str], tmp_path: Path
) -> None:
    assert "the setting `offline` is true" in refused("size", NAME, GPULEDGER_OFFLINE="true")
    assert "offline" in refused("predict", "--gpu", "RTX 4090", "--model", "newer:7b", GPULEDGER_OFFLINE="true")
    refused("size", "no-such-model")
    refused("size", "./no-such-folder")
    assert hub.paths() == []


def test_a_hub_that_forbids_it_in_robots_txt_is_not_asked(hub: LoopbackHub, refused: Callable[..., str]) -> None:
    hub.put(NAME, "config.json", json.dumps(CONFIG).encode())
    hub.routes["/robots.txt"] = file_of(b"User-agent: *\nDisallow: /api/\n")
    assert "robots.txt forbids it" in refused("size", NAME)
    assert hub.paths() == []


def test_what_to_buy_is_asked_by_name(hub: LoopbackHub, nights: dict[int, Night], tmp_path: Path) -> None:
    """At both doors, and a second time without a network."""
    data = nights[1].copy(tmp_path / "data")
    hub.put(NAME, "config.json", json.dumps(CONFIG).encode())
    first = succeeds("buy", "--model", NAME, "--context", "128", "--format", "json", data=data, env=hub.env)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPULEDGER_OFFLINE", "true")
        again = Tools(DataDir(data), cli.cli).all()["buy"](model=NAME, context=128)
    assert json.loads(first.out).items() <= again.items()
    assert len(hub.paths()) == 2


def most_used(hub: LoopbackHub, *names: str, gated: str = "") -> None:
    """The hub's list of the most used models, with a gated one."""
    listed: list[dict[str, Any]] = [{"id": name, "gated": False, "safetensors": {"parameters": {"BF16": PARAMETERS}}}
                                    for name in names]  # fmt: skip
    listed += [{"id": gated, "gated": "manual"}] if gated else []
    hub.routes["/api/models"] = lambda exchange: exchange.reply(
        200, json.dumps(listed).encode(), {"Content-Type": "application/json"}
    )
    for name in names:
        hub.put(name, "config.json", json.dumps(CONFIG).encode())


def test_a_model_that_is_used_most_is_known_the_night_after(
    hub: LoopbackHub, nights: dict[int, Night], tmp_path: Path
) -> None:
    """By its name, with and without an owner and a quantisation, without a network, at every door, the next night too."""
    data = nights[1].copy(tmp_path / "data")
    most_used(hub, NAME, "somebody/Odd-2B", "somebody/Third", "somebody/Fourth", gated="somebody/Gated-7B")
    hub.put("somebody/Odd-2B", "config.json", b'{"model_type": "mystery"}')
    night = ("refresh", "--only", "models", "--engine", "plain")
    succeeds(*night, data=data, env=hub.env)
    issues = gpuledger(
        "sql", "SELECT code, message FROM ops.issue WHERE source = 'models'", "--format", "json", data=data
    )
    said = {row["code"]: row["message"] for row in json.loads(issues.out)}
    assert said["unsized_model"].startswith("somebody/Odd-2B: the config of model_type 'mystery' has no ")
    assert "somebody/Gated-7B is only for those who agreed" in said["gated_model"]
    offline = {"GPULEDGER_OFFLINE": "true"}
    for name in (NAME, "new-model-1b", "New Model 1B", "else/New-Model-1B-GGUF:Q4_K_M"):
        sized = succeeds("size", name.replace(" ", "-"), "--format", "json", data=data, env=offline)
        rows = {row["quantity"]: row["value"] for row in json.loads(sized.out)}
        assert rows["parameters"] == PARAMETERS
    assert gpuledger("size", "gated-7b", data=data, env=offline).status == 2
    succeeds("buy", "--model", "new-model-1b", "--context", "128", "--lang", "ko", data=data, env=offline)
    assert Tools(DataDir(data), cli.cli).all()["buy"](model="new-model-1b", context=128)["options"]
    asked = len(hub.paths())
    most_used(hub, "somebody/Newer-3B", "somebody/Third", "somebody/Fourth", "somebody/Fifth")
    second = gpuledger(*night, data=data, env=hub.env)
    assert second.status == 0, second.out
    for name in (NAME, "newer-3b"):
        assert gpuledger("size", name, data=data, env=offline).status == 0
    assert "somebody/Gated-7B" not in "".join(hub.paths()[asked:])
    forbidden = gpuledger(*night, data=data, env=hub.env | offline)
    assert "models" in forbidden.err
    assert len([path for path in hub.paths() if path.startswith("/api/models?")]) == 4, (
        "two lists a night, none offline"
    )


def test_a_model_of_pictures_is_fetched_part_by_part(hub: LoopbackHub, size: Callable[..., dict[str, Any]]) -> None:
    index = {"transformer": ["diffusers", "T"], "vae": ["diffusers", "V"], "text_encoder": ["transformers", "E"],
             "scheduler": ["diffusers", "S"]}  # fmt: skip
    hub.put(NAME, "model_index.json", json.dumps(index).encode())
    for number in (1, 2):
        hub.put(NAME, f"transformer/diffusion_pytorch_model-0000{number}-of-00002.safetensors", b"", size=1_000_000)
    hub.put(NAME, "transformer/config.json", json.dumps({"_class_name": "T2D"}).encode())
    hub.put(NAME, "vae/diffusion_pytorch_model.safetensors", safetensors({"w": ("F32", [100, 1000])}))
    hub.put(NAME, "text_encoder/model.safetensors", safetensors({"w": ("BF16", [50, 1000])}) + b"\0" * 100_000)
    hub.put(NAME, "text_encoder/model.fp16.safetensors", b"not asked for")
    hub.put(NAME, "whole-model.safetensors", b"not asked for")
    assert size(NAME)["parameters"] == 1_000_000 + 100_000 + 50_000
    assert len(hub.paths()) == 5
    assert size(NAME, GPULEDGER_OFFLINE="true")["parameters"] == 1_150_000


@pytest.mark.parametrize(
    ("name", "file"), [(NAME, "Fetch its config.json"), ("newer:7b", "Fetch its GGUF file, and give the file")]
)
def test_without_the_client_it_says_which_part_to_install_and_which_file_to_fetch(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str
) -> None:
    """As in the base installation, whose metadata lack the packages of the nightly part."""
    monkeypatch.setattr(parts, "missing", lambda part="nightly": ["requests"])
    with pytest.raises(click.UsageError) as error:
        bring(name, DataDir(tmp_path))
    assert file in error.value.message
    assert "install the nightly part: pip install 'gpuledger[nightly]'" in error.value.message
    assert hub.paths() == []


def test_a_repository_is_asked_for_a_bounded_number_of_files_and_seconds(hub: LoopbackHub, tmp_path: Path) -> None:
    """Three thousand parts were three thousand requests, each with a deadline of its own and none for all."""
    for part in range(1, 3001):
        hub.sizes.setdefault(NAME, {})[f"m-{part:05}-of-03000.gguf"] = 1
    hub.put(NAME, "m-00001-of-03000.gguf", b"GGUF")
    for part in range(2, 3001):
        hub.routes[f"/{NAME}/resolve/main/m-{part:05}-of-03000.gguf"] = file_of(b"GGUF")
    refused = gpuledger("size", NAME, data=tmp_path / "data", env=hub.env)
    assert (refused.status, "3,000 parts" in refused.err) == (2, True), refused.err
    assert len(hub.paths()) < 5

    hub.put("a/slow", "config.json", json.dumps(CONFIG).encode())
    address, seconds = hub.env["GPULEDGER_HUB"], iter((0.0, 10.0, 301.0))
    with Client(HttpSettings(delay_s=0, connect_to={"127.0.0.1": ("127.0.0.1", hub.port)})) as client:
        slow = Hub(
            client=client, archive=Archive(tmp_path / "archive"), now=utc_now, address=address, ollama=address,
            clock=lambda: next(seconds),
        )  # fmt: skip
        with pytest.raises(HubError, match="over 300 seconds"):
            slow.bring(Wanted("a/slow", ""), tmp_path)
