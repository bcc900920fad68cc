"""The rooms and who may do what there, read off the imports of every module."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import click
import pytest

from gpuledger.flows.cli import cli
from tests.command import IS_DUCKDB_1, ROOT, environment
from tests.nights import Night

ROOMS = ("flows", "extract", "transform", "warehouse", "expectations")

#: What each room may use of the others; nothing imports flows. All use the ground: the modules in `gpuledger/` itself.
MAY_USE = {
    "flows": {"extract", "transform", "warehouse", "expectations"},
    "warehouse": {"extract.archive.files", "extract.archive.objects", "extract.archive.sealed"},
    "expectations": {"extract.source", "warehouse.dictionary"},
    "transform": {
        "warehouse",
        "extract.price.no_price",
        "extract.archive.sealed",
        "extract.hub.weight_types",
        "extract.source",
        "extract.words",
    },
    "extract": set(),
    "gpuledger": {"flows.cli"},  # the start of `python -m gpuledger`
}

#: The only room that may import a library.
ONLY = {
    "requests": "extract",
    "bs4": "extract",
    "lxml": "extract",
    "urllib3": "extract",
    "great_expectations": "expectations",
    "prefect": "flows/prefect_",
    "click": "flows",
    "rich": "flows",
    "apprise": "flows",
    "mcp": "flows",
    "obstore": "extract",
}

#: Seconds to import: never before they are needed.
HEAVY = {"prefect", "great_expectations", "pandas"}


@dataclass(frozen=True)
class Import:
    """One import: `module` with what was taken from it (ours without `gpuledger.`); whether it runs at its file's import."""

    file: Path
    line: int
    module: str
    at_import: bool

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.module}"


@cache
def trees() -> list[tuple[Path, ast.Module]]:
    return [
        (path, ast.parse(path.read_text(encoding="utf-8"), filename=str(path)))
        for files in ((ROOT / "gpuledger").glob("*.py"), *((ROOT / room).rglob("*.py") for room in ROOMS))
        for path in sorted(files)
    ]


def imports_of(path: Path, tree: ast.AST, at_import: bool = True) -> Iterator[Import]:
    """Every import below `tree`; those in functions and under TYPE_CHECKING do not run at import."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (Import(path, node.lineno, _own(alias.name), at_import) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import hides the room"
            yield from (
                Import(path, node.lineno, _own(f"{node.module}.{alias.name}"), at_import) for alias in node.names
            )
        else:
            lazy = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            lazy = lazy or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
            yield from imports_of(path, node, at_import and not lazy)


def _own(module: str) -> str:
    """The name of a module of ours as its place in the repository says it."""
    assert module.split(".")[0] not in ROOMS, f"{module} is installed as gpuledger.{module}, and imported by that name"
    inside = module.removeprefix("gpuledger.")
    return inside if inside.split(".")[0] in ROOMS else module


@cache
def imports() -> list[Import]:
    """Every import of ours. Not read where this module is imported: every worker of a run imports it."""
    return [one for path, tree in trees() for one in imports_of(path, tree)]


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


def test_imports_go_one_way() -> None:
    wrong = [
        str(one)
        for one in imports()
        if (other := one.module.split(".")[0]) in ROOMS
        and other != (room := room_of(one.file))
        and not any(f"{one.module}.".startswith(f"{allowed}.") for allowed in MAY_USE[room])
    ]
    assert wrong == []


def test_tests_import_no_benchmark() -> None:
    """What both need is test support: a benchmark may change with what it measures, and a test must not change with it."""
    wrong = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if any(one.module.split(".")[0] == "benchmarks" for one in imports_of(path, ast.parse(path.read_text("utf-8"))))
    ]
    assert wrong == []


def test_a_library_is_imported_in_its_room_alone() -> None:
    wrong = [
        str(one)
        for one in imports()
        if (room := ONLY.get(one.module.split(".")[0])) and not one.file.is_relative_to(ROOT / room)
    ]
    assert wrong == []


#: The rooms of `flows`, each of which may import those before it, wherever in a module the import stands.
FLOWS = (
    "settings", "words", "decisions", "doors.showing", "night", "history", "telling", "prefect_", "checks", "doors.asking",
    "doors.agent", "commands", "cli",
)  # fmt: skip

#: The rooms of `extract` in the same order. What lies at its top is between `readers` and `sources`, or under all of them.
EXTRACT = (
    "words", "price", "markup", "fetch", "archive", "processes", "hub", "product", "readers", "sources", "sample",
)  # fmt: skip


TRANSFORM = (
    "identity", "sizing", "claims", "speed", "buying", "gate", "models", "build", "seeds", "answers", "report",
)  # fmt: skip

WAREHOUSE = ("load", "outputs", "published")


@pytest.mark.parametrize(
    ("house", "order"), [("flows", FLOWS), ("extract", EXTRACT), ("transform", TRANSFORM), ("warehouse", WAREHOUSE)]
)
def test_a_room_imports_those_before_it(house: str, order: tuple[str, ...]) -> None:
    upward = [
        str(one)
        for one in imports()
        if one.file.is_relative_to(ROOT / house)
        and (own := place_of(module_of(one.file), house)) in order
        and (other := place_of(one.module, house)) in order
        and order.index(other) > order.index(own)
    ]
    assert upward == []
    inside = {path.name for path in (ROOT / house).iterdir() if any(path.glob("*.py"))}
    assert inside <= {name.split(".")[0] for name in order}, "a new room has its place in the order"


def place_of(module: str, house: str) -> str:
    """The room inside `house` that `module` belongs to; empty in another house. The doors stand one by one in the order."""
    parts = module.split(".")
    if parts[0] != house:
        return ""
    return ".".join(parts[1 : 3 if parts[1:2] == ["doors"] else 2])


#: More files than these are no room that a person knows. Commands are one file each.
MOST_FILES = 16
#: The room that has more: one file a command.
STILL = {"flows/commands": 60}


def test_no_room_holds_more_files_than_a_person_knows() -> None:
    rooms: dict[str, int] = {}
    for path, _ in trees():
        if path.name != "__init__.py":
            room = str(path.parent.relative_to(ROOT))
            rooms[room] = rooms.get(room, 0) + 1
    assert {room: count for room, count in rooms.items() if count > STILL.get(room, MOST_FILES)} == {}
    assert {room for room in STILL if rooms.get(room, 0) <= MOST_FILES} == set(), (
        "it is small now: take it out of STILL"
    )


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Also where one of the imports waits in a function: what needs each other is one thing, or two with a third below."""
    own = {module_of(path) for path, _ in trees()}
    needs: dict[str, set[str]] = {name: set() for name in own}
    for one in imports():
        for name in (one.module, one.module.rpartition(".")[0]):
            if name in own:
                if name != module_of(one.file):
                    needs[module_of(one.file)].add(name)
                break
    # Raises CycleError, with the modules, where there is one.
    assert len(list(TopologicalSorter(needs).static_order())) == len(own)


def test_only_the_warehouse_opens_duckdb() -> None:
    """Others are handed a connection; the name of its type is all that they need of the library."""
    opening = {
        str(path.relative_to(ROOT))
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("duckdb.connect", "connect", "duckdb.sql", "duckdb.execute")
    }
    assert opening
    assert {name for name in opening if not name.startswith("warehouse/")} == set()
    assert not [str(one) for one in imports() if one.module in ("duckdb.connect", "duckdb.sql", "duckdb.execute")]


#: How a statement begins. Help texts that quote one begin with something else.
STATEMENT = re.compile(
    r"\s*(SELECT|FROM|WITH|VALUES|INSERT|DELETE|UPDATE|CREATE|DROP|ATTACH|COPY|BEGIN|COMMIT|ROLLBACK|SET|DESCRIBE)\b"
)


def test_flows_holds_no_sql() -> None:
    """A question is asked in transform/answers, and what is loaded or built in the room that does it."""
    having = {
        str(path.relative_to(ROOT))
        for path, tree in trees()
        if room_of(path) == "flows"
        for node in ast.walk(tree)
        if (isinstance(node, ast.Constant) and isinstance(node.value, str) and STATEMENT.match(node.value))
        or (isinstance(node, ast.Attribute) and node.attr in ("execute", "executemany"))
    }
    assert having == set()


def test_only_flows_reads_the_environment() -> None:
    def is_reading(node: ast.AST) -> bool:
        names = ("environ", "getenv", "environb", "putenv")
        return isinstance(node, ast.Attribute) and node.attr in names and ast.unparse(node.value) == "os"

    wrong = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if room_of(path) != "flows" and is_reading(node)
    ]
    wrong += [
        str(one) for one in imports() if one.module in ("os.environ", "os.getenv") and room_of(one.file) != "flows"
    ]
    assert wrong == []


#: What starts a process, in the standard library.
STARTS = re.compile(
    r"(subprocess|multiprocessing(?!\.connection)|pty|popen2|concurrent\.futures\.process)(\.|$)"
    r"|asyncio\.(subprocess|create_subprocess_\w+)|.*\b(subprocess_exec|subprocess_shell|ProcessPoolExecutor)"
    r"|os\.(system|popen|fork|forkpty|exec\w+|spawn\w+|posix_spawn\w*)|concurrent\.futures\.ProcessPoolExecutor"
)


def test_one_module_starts_every_child() -> None:
    """It keeps the current folder out of the child's path."""
    wrong = [str(one) for one in imports() if STARTS.match(one.module)]
    wrong += [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and STARTS.match(ast.unparse(node))
    ]
    assert {place.partition(":")[0] for place in wrong} == {"gpuledger/child.py"}


def test_no_core_function_asks_the_clock_of_the_machine() -> None:
    """Time is handed in, so that a night can be repeated; the client's pauses and the lock's note are about
    this machine.
    """
    allowed = {"warehouse/lock.py"}
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("datetime.now", "datetime.utcnow", "date.today", "datetime.today")
        and room_of(path) in ("transform", "warehouse", "expectations")
        and str(path.relative_to(ROOT)) not in allowed
    ]
    assert wrong == []


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    """From the command line and every command's module, whatever is imported with them, and not only when it runs."""
    own = {module_of(path): path for path, _ in trees()}
    waiting = [name for name in own if name == "flows.cli" or name.startswith("flows.commands.")]
    reached = set(waiting)
    while waiting:
        path = own[waiting.pop()]
        for one in imports():
            if one.file == path and one.at_import:
                assert one.module.split(".")[0] not in HEAVY, f"{one}, and a command imports it"
                for name in (one.module, one.module.rpartition(".")[0]):
                    if name in own and name not in reached:
                        reached.add(name)
                        waiting.append(name)
    assert "flows.commands.refresh" in reached


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


# ── the reading commands ──────────────────────────────────────────────────────────────────────────────────────────────


def reading_commands() -> dict[str, click.Command]:
    """The commands that answer from what is there: those with `--format table|csv|json`."""
    with click.Context(cli) as context:
        found = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    return {
        name: command
        for name, command in found.items()
        if command is not None and name not in LOOKS_AT_THE_MACHINE
        for parameter in command.params
        if "--format" in parameter.opts
        and isinstance(parameter.type, click.Choice)
        and {"table", "json"} <= set(parameter.type.choices)
    }


#: Reports on the libraries that are installed: nothing that was published is asked.
LOOKS_AT_THE_MACHINE = {"doctor"}

#: Words that a command cannot do without.
WORDS = {
    "sql": ["SELECT count(*) FROM mart.value"],
    "rank": ["sd-512-image-generation"],
    "value": ["sd-512-image-generation"],
    "price": ["nvidia-geforce-rtx-4090"],
    "show": ["4090"],
    "size": ["llama-2-7b"],
    "buy": ["--model", "llama-2-7b"],
    "predict": ["--gpu", "nvidia-geforce-rtx-4090", "--model", "llama-3-8b"],
}

RUN = """
import contextlib, io, json, sys
from gpuledger.flows.cli import call
found = {}
for words in json.loads(sys.argv[1]):
    sys.argv, status, out = ["gpuledger", *words], 0, io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            call()
        except SystemExit as leaving:
            status = leaving.code or 0
    heavy = [name for name in ("prefect", "great_expectations", "pandas", "requests", "bs4") if name in sys.modules]
    found[words[0]] = status, bool(out.getvalue().strip()), heavy
print(json.dumps(found))
"""


def test_a_reading_command_imports_nothing_that_takes_seconds(nights: dict[int, Night]) -> None:
    """One after the other in one process, and last the one that may import what fetches and parses."""
    data = ["--data-dir", str(nights[1].data)]
    asked = [
        [name, *WORDS.get(name, []), *(data if any(one.name == "data_dir" for one in command.params) else [])]
        for name, command in sorted(reading_commands().items(), key=lambda found: found[0] == "sources")
    ]
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(asked)], check=False, env=environment(), cwd=nights[1].data,
        capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.keys() == reading_commands().keys()
    for name, (status, has_answered, loaded) in found.items():
        assert (status, has_answered) == (0, True), f"{name}: {done.stderr} (one that needs words has them in WORDS)"
        # DuckDB 1.5 imports pandas by itself, for a bound parameter.
        taken = {*loaded} - ({"pandas"} if IS_DUCKDB_1 else set())
        assert taken & (HEAVY if name == "sources" else {*loaded}) == set(), (
            f"{name}: a reader of the published file fetches and parses nothing"
        )
