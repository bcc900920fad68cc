"""Agents ask through the protocol's own client: in this process, over standard input, and over HTTP on this machine."""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from gpuledger.flows import cli
from gpuledger.flows.doors.agent import tools
from gpuledger.flows.settings import settings as settings_module
from gpuledger.warehouse.paths import DataDir
from tests.command import arguments, environment, gpuledger, rows
from tests.nights import Night

SD = "sd-512-image-generation"


def talk(server: Any, do: Callable[[Client], Awaitable[Any]]) -> Any:
    async def with_client() -> Any:
        async with Client(server) as client:
            return await do(client)

    return anyio.run(with_client)


def ask(data: Path, tool: str, **given: object) -> dict[str, Any]:
    """The answer of a tool; fails where it is an error."""
    result = talk(tools.server(DataDir(data), cli.cli), lambda client: client.call_tool(tool, given))
    assert not result.is_error, result.content
    read = json.loads(result.content[0].text)
    assert {name: result.structured_content[name] for name in read} == read
    return dict(result.structured_content)


def refused(data: Path, tool: str, **given: object) -> str:
    """The error of a tool."""
    result = talk(tools.server(DataDir(data), cli.cli), lambda client: client.call_tool(tool, given))
    assert result.is_error
    return str(result.content[0].text)


def test_every_question_is_a_tool_that_says_it_only_reads(data: Path) -> None:
    listed = talk(tools.server(DataDir(data), cli.cli), lambda client: client.list_tools()).tools
    assert {tool.name for tool in listed} == {
        "workloads", "rank", "value", "price", "buy", "predict", "size", "show", "changes", "status",
        "compare", "history", "evidence", "describe", "sql", "models",
    }  # fmt: skip
    for tool in listed:
        assert tool.annotations.read_only_hint
        assert tool.description
        for name, argument in tool.input_schema.get("properties", {}).items():
            assert argument.get("description"), (tool.name, name)
        assert "--" not in str(tool.input_schema) + tool.description, "an agent types no option"


def test_an_answer_is_that_of_the_command_line(data: Path) -> None:
    for tool in ("rank", "value"):
        told = json.loads(gpuledger(tool, SD, "--json", data=data).out)
        assert ask(data, tool, workload=SD)["rows"] == told
    told = json.loads(gpuledger("buy", "--model", "llama-2-13b", "--limit", 3, "--json", data=data).out)
    answer = ask(data, "buy", model="llama-2-13b", limit=3)
    assert told == {name: answer[name] for name in told}
    assert (told["presumed"]["model"], answer["options"][0]["cooling"]) == ("llama-2-13b", "own fan")
    told = json.loads(gpuledger("predict", "--model", "qwen3-32b", "--gpu", "4090", "--format", "json", data=data).out)
    answer = ask(data, "predict", model="Qwen/Qwen3-32B", gpu="4090")
    assert "a draft head or model (`draft`)" in str(answer["assumptions"])
    assert {name for name in told if answer[name] != told[name]} == {"assumptions"}
    less = ask(data, "predict", model="gemma-3-27b", gpu="4060 ti 16gb")
    assert "At Q3_K_M it fits: " in " ".join(less["assumptions"])
    # A server is asked about what servers load, not about llama.cpp's files.
    assert ask(data, "predict", model="qwen3-32b", gpu="4090", engine="vllm")["precision"] == "awq-int4-g128"
    told = json.loads(gpuledger("show", "4090", "--format", "json", data=data).out)
    assert ask(data, "show", card="4090")["rows"] == told
    assert ask(data, "status")["presumed_shops"] == ["generic-shop.sample.test"]
    told = json.loads(gpuledger("size", "llama-2-7b", "--json", data=data).out)
    answer = ask(data, "size", model="Llama-2-7b-hf")
    assert (answer["rows"], answer["model"]) == (told, "llama-2-7b")
    assert len(ask(data, "models")["rows"]) > 100
    less = ask(data, "predict", gpu="4090", limit=2)
    assert (len(less["rows"]), "more with `limit` 0" in less["note"]) == (2, True)


def test_an_answer_has_its_age_and_evidence_that_opens(data: Path) -> None:
    answer = ask(data, "price", card="rtx 4090")
    ((as_of,),) = rows(data, "SELECT as_of FROM ops.last_run")
    assert answer["as_of"] == f"{as_of:%Y-%m-%dT%H:%M:%SZ}"
    # One clock for all: in a sample ages end with its last night, as `status` says them of the sources.
    whole = {tool: ask(data, tool) for tool in ("status", "price", "workloads")}
    assert {(one["as_of"], one["age_hours"], one["is_sample"]) for one in whole.values()} == {
        (answer["as_of"], 0.0, True)
    }
    assert "invented" in ask(data, "history", card="4090")["note"]
    early = ask(data, "price", card="4090", as_of="2023-05-16")
    assert (early["as_of"], early["rows"]) == ("2023-05-16", [])
    assert "nothing had been read by 2023-05-16: the first day is 2023-11-16" in early["note"]
    (hash_,) = answer["evidence"]
    page = ask(data, "evidence", sha256=hash_[:12])
    assert page["page"]["sha256"] == hash_
    assert f"{answer['rows'][0]['price_usd']:.2f} USD" in {row["value"] for row in page["rows"]}
    assert any(row["place"].startswith("line ") for row in page["rows"])


def test_cards_stand_side_by_side(data: Path) -> None:
    answer = ask(data, "compare", names=["4090", "rtx 3060 12gb"])
    assert [row["gpu_id"] for row in answer["rows"]] == ["nvidia-geforce-rtx-3060-12gb", "nvidia-geforce-rtx-4090"]
    assert all(row["scores"] for row in answer["rows"])
    # What is empty says why, to people too.
    (card,) = ask(data, "show", card="gb10")["rows"]
    assert card["rentals"] == []
    assert "no cloud here rents it out" in card["note"]
    assert "no cloud here rents it out" in gpuledger("show", "gb10", data=data).out
    assert "no score of it" in ask(data, "compare", names="gb10")["rows"][0]["note"]
    days = ask(data, "history", card="4090")["rows"]
    assert [row["day"] for row in days] == ["2023-11-16", "2023-11-17"]


def test_an_agent_reads_with_sql_and_changes_nothing(data: Path) -> None:
    assert ask(data, "sql", statement="SELECT 41 + 1 AS answer")["rows"] == [{"answer": 42}]
    assert "gives no row" in ask(data, "sql", statement="SELECT 1 WHERE false")["note"]
    assert "only reading is possible" in refused(data, "sql", statement="DROP TABLE mart.value")
    assert "1,000,000 are the most" in refused(data, "sql", statement="SELECT repeat('x', 1000001)")
    assert "more than 200 rows" in refused(data, "sql", statement="SELECT * FROM core.gpu")
    assert "disabled" in refused(data, "sql", statement="SELECT * FROM read_csv('/etc/passwd')")
    assert ask(data, "describe", table="value")["rows"][0]["column"] == "workload_id"


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("value", {"workload": "sd512"}, "sd-512-image-generation"),
        ("price", {"card": "rtx 4090ti"}, "NVIDIA GeForce RTX 4090"),
        ("price", {"card": "4090", "market": "Germany"}, "did you mean de"),
        ("buy", {"model": "llama-2-13b", "budget": 0}, "0.0 is not in the range x>0"),
        ("buy", {"model": "llama-2-13b", "context": "32k"}, "'32k' is no number; did you mean 32768?"),
        ("buy", {"model": "llama-2-13b", "for": "play"}, "buy: for: Input should be 'chat'"),
        ("buy", {"model": "llama-2-13b", "slots": 2}, "`slots` says more about `host`: give `host` too"),
        (
            "buy",
            {"model": "llama-2-13b", "assume": "electricity_usd_per_kwh=0.40 EUR"},
            "a number alone, such as 0.16, not",
        ),
        ("buy", {"model": "qwen 32b"}, "did you mean qwen3-32b or qwen2.5-32b or qwen3-vl-32b? `models` lists all"),
        ("buy", {"model": "llama 70b"}, "did you mean llama-3.3-70b or "),
        ("predict", {"gpu": "2x RTX 3060 12GB + RTX 3090"}, "different cards in one machine are not computed"),
        ("compare", {"names": []}, "one to four cards"),
        ("evidence", {"sha256": "zz"}, "at least 8 letters"),
        ("describe", {"table": "vlaue"}, "did you mean mart.value"),
    ],
)
def test_a_mistake_is_answered_as_on_the_command_line(data: Path, tool: str, given: dict[str, Any], told: str) -> None:
    assert told in refused(data, tool, **given)


def test_what_no_option_does_is_said_with_what_would(data: Path) -> None:
    answer = ask(data, "buy", model="llama-2-13b", budget=10)
    assert answer["options"] == []
    listed = talk(tools.server(DataDir(data), cli.cli), lambda client: client.list_tools()).tools
    schema = next(tool.output_schema for tool in listed if tool.name == "buy")
    for one in (answer, ask(data, "buy", model="llama-2-13b", limit=2, explain=True)):
        jsonschema.validate(one, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**answer, "refusal": "none"}, schema)
    assert "raise the budget to" in " ".join(answer["refusal"]["ways_out"])


def test_before_the_first_refresh_an_agent_hears_what_the_program_brings_and_else_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = settings_module.load({}).data().root
    for tool, given in (("show", {"card": "4090"}), ("sql", {"statement": "SELECT 1"})):
        assert refused(data, tool, **given).endswith(tools.NOTHING_READ), "and not that a sample could be tried"
    assert ask(data, "status")["note"] == tools.NOTHING_READ
    assert "nothing was read here" in refused(data, "evidence", sha256="12345678")
    assert {row["condition"] for row in ask(data, "price", card="4090")["rows"]} <= {"new", "used"}
    assert "qwen3-32b" in {row["model"] for row in ask(data, "predict", gpu="3090")["rows"]}
    assert ask(data, "size", model="llama-2-7b")["rows"]
    assert ask(data, "buy", model="qwen3-32b", budget=3000)["picks"]


#: Names of models that lead to a file, a pipe or a hub, or to nothing, with what is said of them.
NO_MODELS = {
    "a.gguf": "opens no file", "./a.gguf": "opens no file", "a.safetensors": "opens no file", "config.json": "opens no file",
    "odd.gguf": "opens no file", "..": "opens no file", "/etc/passwd": "opens no file", "pipe": "no model is called",
    "some/pipe": "gpuledger model add some/pipe", "llama-3.1-8b:./a.gguf": "opens no file",
    "somebody/repo": "gpuledger model add somebody/repo", "hf.co/a/b:Q4_K_M": "gpuledger model add hf.co/a/b:Q4_K_M",
    "https://huggingface.co/a/b": "gpuledger model add https://huggingface.co/a/b", "llama3:latest": "gpuledger model add",
    "http://127.0.0.1:1/x": "no model is called", "file:///etc/passwd": "no model is called", "a/b\0": "no model is called",
    "--help": "no model is called", "": "no model is called", "{0.__class__}": "no model is called",
    "x" * 9999: "no model is called",
}  # fmt: skip


def test_over_standard_input_and_output_names_of_files_and_hubs_open_nothing_and_keep_nothing(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    """`size("somebody/repo")`, a tool that says that it only reads, wrote a model that every later night read; a pipe
    stopped all later answers.
    """
    nights[1].copy(tmp_path / "data")
    (tmp_path / "some").mkdir()
    for pipe in ("a.gguf", "a.safetensors", "pipe", "some/pipe"):
        os.mkfifo(tmp_path / pipe)
    (tmp_path / "config.json").write_text("[]")
    (tmp_path / "odd.gguf").write_bytes(b"GGUF" + b"\xff" * 99)
    command, *words = arguments("mcp", data=tmp_path / "data")

    def files() -> dict[Path, int]:
        return {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*") if path.name != "errors"}

    async def ask_all(client: Client) -> Any:
        with anyio.fail_after(300):
            for name, said in NO_MODELS.items():
                for tool, more in (("size", {}), ("buy", {}), ("predict", {"gpu": "4090", "precision": "Q4_K_M"})):
                    found = await client.call_tool(tool, {"model": name, **more})
                    assert found.is_error, name
                    assert said in found.content[0].text, name
            return await client.call_tool("price", {"card": "4090"})

    before = files()
    with (tmp_path / "errors").open("w") as errors:
        parameters = StdioServerParameters(command=command, args=words, env=environment(), cwd=tmp_path)
        last = json.loads(talk(stdio_client(parameters, errlog=errors), ask_all).content[0].text)
    assert last["rows"][0]["gpu_id"] == "nvidia-geforce-rtx-4090"
    assert files() == before
    assert (tmp_path / "errors").read_text() == ""


def question(method: str, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


#: Lines that are no message, with what JSON-RPC answers, and the id where it can be told.
UNREADABLE = [
    (question("tools/call", name="price", arguments={"card": "\ud83d"}), -32700, 1),
    (question("ping", deep=0).replace("0}", "[" * 100_000 + "]" * 100_000 + "}"), -32700, None),
    (question("ping").replace("1", '"\\ud83d"', 1), -32700, None),
    ('{"jsonrpc": "2.0", "id": %s, "method": "ping"}' % ("9" * 5000), -32700, None),
    ("\xed\xa0\xbd", -32700, None),
    ("ping", -32700, None),
    ("[]", -32600, None),
    (f"[{question('ping')}]", -32600, None),
    (json.dumps({"jsonrpc": "1.0", "id": 1, "method": "ping"}), -32600, None),
]  # fmt: skip


def test_a_line_that_is_no_message_is_answered_and_the_next_one_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, asking = os.pipe()
    hearing, told = os.pipe()
    heard: list[dict[str, Any]] = []

    def converse() -> None:
        with os.fdopen(asking, "wb") as to, os.fdopen(hearing, "rb", buffering=0) as answers:
            for line, _, _ in UNREADABLE:
                for said in (line, question("ping")):
                    to.write(said.encode("latin-1") + b"\n")
                    to.flush()
                    if not select.select([answers], [], [], 30)[0]:
                        return
                    heard.append(json.loads(answers.readline()))

    with os.fdopen(asked) as lines, os.fdopen(told, "w") as answered:
        monkeypatch.setattr(sys, "stdin", lines)
        monkeypatch.setattr(sys, "stdout", answered)
        client = threading.Thread(target=converse)
        client.start()
        tools.server(DataDir(tmp_path), cli.cli).run("stdio")
        client.join()
    assert [(one["error"]["code"], one["id"]) for one in heard[::2]] == [(code, name) for _, code, name in UNREADABLE]
    assert [(one["result"], one["id"]) for one in heard[1::2]] == [({}, 1)] * len(UNREADABLE)
