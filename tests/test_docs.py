"""What is written about the program is true of it: commands, tables, columns, links. The first documents stay short."""

from __future__ import annotations

import ast
import importlib.util
import json
import pkgutil
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import duckdb
import pytest
import yaml
from click.testing import CliRunner

from gpuledger.extract import source as sources
from gpuledger.flows.cli import cli
from gpuledger.flows.settings.settings import FILE_VARIABLE, explain
from gpuledger.transform.build import graph
from gpuledger.warehouse import schema
from gpuledger.warehouse.bounded_query import user_query
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.paths import DataDir, Place
from tests.command import ROOT, gpuledger, rows, succeeds
from tests.nights import Night


@cache
def tracked() -> list[Path]:
    """The project's files. Without a repository these are all files below the folder."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=False, capture_output=True, text=True)
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [
            path
            for path in ROOT.rglob("*")
            if not any(part.startswith((".", "__")) for part in path.relative_to(ROOT).parts)
        ]
    return [path for path in paths if path.is_file()]


@cache
def text_of(path: Path) -> str | None:
    """The text of a file, or None if the file is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def documents() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".md" or "ISSUE_TEMPLATE" in path.parts]


def commands() -> dict[str, click.Command]:
    with click.Context(cli) as context:
        by_name = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    return {name: command for name, command in by_name.items() if command is not None}


# ── commands ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", [*documents(), ROOT / ".ci" / "run"], ids=lambda path: str(path.relative_to(ROOT)))
def test_everything_that_a_document_lets_make_do_can_be_done(path: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", text_of(ROOT / "Makefile") or "", re.M))
    named = set(re.findall(r"(?:`|^ *|&& )make ([a-z]+)", text_of(path) or "", re.M))
    assert targets >= {"demo", "test"}
    assert named <= targets


def called(path: Path) -> Iterator[tuple[str, click.Command, list[str]]]:
    """Every call of the program in a document, with its command and its options."""
    for line in re.findall(r"`[^`\n]*`|^\$ .*$|^ {4}.*$", text_of(path) or "", re.M):
        for call in re.findall(r"\bgpuledger ([a-z][^`|;&]*)", line):
            arguments = call.split()
            assert arguments[0] in commands(), call
            command = commands()[arguments[0]]
            while isinstance(command, click.Group) and len(arguments) > 1 and arguments[1] in command.commands:
                arguments = arguments[1:]
                command = command.commands[arguments[0]]
            yield call, command, [word.partition("=")[0] for word in arguments if re.match(r"--[a-z]", word)]


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_option_that_a_document_gives_exists(path: Path) -> None:
    for call, command, options in called(path):
        assert set(options) <= {option for parameter in command.params for option in parameter.opts}, call


#: Commands that the last night of the sample can answer, and commands for what a person decides or measures. The other
#: commands begin a night, wait for the network, or need a file that only the reader has.
ANSWERED = {
    "audit", "buy", "changes", "describe", "evidence", "export", "measure add", "predict", "price", "rank", "rebuild",
    "report", "show", "sql", "status", "value", "watch add", "watch list", "watch remove", "workload add", "workloads",
}  # fmt: skip
#: Commands that take long, each with the test that types it in a folder of another name.
ANSWERED_ELSEWHERE = {
    "export out --format xlsx": "tests/flows/test_procurement.py::test_the_same_warehouse_gives_the_same_bytes",
    "report out": "tests/flows/test_report.py::test_equal_warehouses_give_equal_files",
}
GUIDES = sorted(f"docs/guides/{path.name}" for path in (ROOT / "docs" / "guides").glob("*.md"))
PLACEHOLDER = re.compile(r"(?:^| )[A-Z]+(?: |$)|…|[$]")


def typed(path: Path) -> list[list[str]]:
    """The command lines of a document that can be answered here, in their order, each as a list of arguments."""
    command_lines = []
    for call, _, _ in called(path):
        line = re.sub(r" {2,}#.*", "", call).strip()
        # A command without arguments is only the name of the command in a sentence.
        is_answered = line not in ANSWERED and any(f"{line} ".startswith(f"{name} ") for name in ANSWERED)
        is_answered |= line == "refresh --only measurements"
        is_answered &= line not in ANSWERED_ELSEWHERE
        if is_answered and not PLACEHOLDER.search(line.partition('"')[0]):
            command_lines.append(shlex.split(line))
    return command_lines


@pytest.mark.parametrize("name", ["README.md", *GUIDES])
def test_what_a_guide_lets_one_type_is_answered(
    name: str, nights: dict[int, Night], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the last night of the sample in `data/`, where a first run leaves it."""
    nights[3].copy(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    for arguments in typed(ROOT / name):
        if arguments[0] == "refresh":  # as it is typed, that is under Prefect: tests/flows/test_engines.py
            arguments += ["--engine", "plain"]
        answer = CliRunner().invoke(cli, arguments, standalone_mode=False)
        assert (answer.exit_code, arguments) == (0, arguments), answer.output
        # Data of 2023 are too old today, and `status` and a night say so with 3.
        assert (answer.return_value in {None, 0, 3}, arguments) == (True, arguments), answer.output


def test_what_the_handbook_names_is_there() -> None:
    """Settings, metrics, files, deployments and tables of docs/operations.md."""
    handbook = text_of(ROOT / "docs" / "operations.md") or ""
    assert len(list(called(ROOT / "docs" / "operations.md"))) > 20
    known = {FILE_VARIABLE, *(f"GPULEDGER_{origin.name.upper()}" for origin in explain({}, Path("/nowhere")))}
    named = set(re.findall(r"\bGPULEDGER_[A-Z_]+\b", handbook))
    assert named
    assert named <= known
    metrics = set(re.findall(r"\bgpuledger_[a-z_]+\b", handbook))
    assert metrics
    assert metrics <= set(
        re.findall(r'"(gpuledger_[a-z_]+)"', text_of(ROOT / "flows" / "telling" / "prometheus.py") or "")
    )
    files = set(re.findall(r"\bdeploy/[\w./-]+\w", handbook))
    assert [name for name in files if not (ROOT / name).exists()] == []
    deployed = set(re.findall(r"\b[a-z]+/on-[a-z]+\b", handbook))
    configured = yaml.safe_load(text_of(ROOT / "deploy" / "prefect.yaml") or "")["deployments"]
    # tests/ops/test_workers.py imports the deployments and checks the flow of each.
    assert {name.partition("/")[2] for name in deployed} <= {deployment["name"] for deployment in configured}
    assert set(re.findall(r"\bFROM (ops\.\w+)", handbook)) <= dictionary().tables.keys()


def test_every_option_has_its_words_and_every_command_its_help() -> None:
    for name, command in commands().items():
        assert command.help, name
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.name != "form":
                assert parameter.help, f"{name} {parameter.opts}"


def test_help_lists_the_commands_and_starts_without_a_data_directory() -> None:
    outcome = succeeds("--help")
    assert all(name in outcome.out for name in commands())
    assert gpuledger("--version").out.startswith("gpuledger ")


# ── tables and columns ────────────────────────────────────────────────────────────────────────────────────────────────

#: The tables and columns that analysts were promised. There may be more of them, but none may be removed or renamed.
PROMISED = {
    "core.gpu": "gpu_id vendor name architecture memory_gb memory_bandwidth_gb_s fp32_tflops tdp_w released_on msrp_usd "
    "segment",
    "core.workload": "workload_id",
    "core.benchmark_score": "gpu_id workload_id score unit",
    "core.listing": "listing_id source title url",
    "core.price_history": "listing_id price currency valid_from valid_to last_seen_at",
    "core.price_change": "listing_id changed_at old_price new_price",
    "core.cloud_offer_history": "provider region instance price currency valid_from valid_to",
    "core.fx_rate": "day currency rate",
    "core.unmatched_title": "source title",
    "mart.ranking": "workload_id rank gpu_id gpu score unit relative_to_baseline baseline_gpu_id",
    "mart.value": "workload_id price_basis value_rank gpu_id gpu score unit price_usd score_per_usd score_ratio price_ratio "
    "on_pareto_frontier",
    "mart.comparison": "gpu_id gpu",
    "mart.gpu_price": "gpu_id gpu price_usd",
    "mart.price_daily": "gpu_id day",
    "mart.cloud_price": "gpu_id provider",
    "mart.claim_audit": "document claim_id published recomputed agrees",
    "mart.source_status": "source status is_stale",
    "ops.run": "run_id status parsed loaded quarantined duplicate",
    "ops.issue": "run_id source message",
    "ops.quarantine": "run_id source reason item snapshot_sha256",
    "ops.model_build": "run_id model action reason",
}


def test_what_was_promised_is_there(nights: dict[int, Night]) -> None:
    columns_of_file = rows(
        nights[1].data, "SELECT schema_name || '.' || table_name, column_name FROM duckdb_columns() WHERE NOT internal"
    )
    for table, columns in PROMISED.items():
        assert {(table, column) for column in columns.split()} <= set(columns_of_file), table
    assert {basis for (basis,) in rows(nights[1].data, "SELECT DISTINCT price_basis FROM mart.value")} == {
        "msrp",
        "street",
    }
    promised = {"product", "newegg", "amazon", "bestbuy", "bhphoto", "microcenter", "danawa", "morele", "toms_gpu_hierarchy",
                "toms_price_index", "toms_ai_articles"}  # fmt: skip
    assert promised - {"product"} <= set(sources.names())
    ids = {gpu for (gpu,) in rows(nights[1].data, "SELECT gpu_id FROM core.gpu")}
    assert {"nvidia-geforce-rtx-3060-12gb", "nvidia-geforce-rtx-3080-10gb", "nvidia-geforce-rtx-4090"} <= ids


def test_every_table_view_and_column_of_a_built_file_is_described(nights: dict[int, Night]) -> None:
    data = nights[2].data
    missing = rows(
        data,
        """SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE coalesce(trim(comment), '') = ''
           UNION ALL SELECT schema_name || '.' || view_name FROM duckdb_views()
           WHERE NOT internal AND coalesce(trim(comment), '') = ''
           UNION ALL SELECT schema_name || '.' || table_name || '.' || column_name FROM duckdb_columns()
           WHERE NOT internal AND coalesce(trim(comment), '') = ''""",
    )
    assert missing == []


def test_describe_prints_what_the_file_carries(nights: dict[int, Night]) -> None:
    data = nights[1].data
    described = gpuledger("describe", "mart.value", "--format", "csv", data=data).out
    carried = rows(
        data,
        """SELECT column_name, comment FROM duckdb_columns() WHERE schema_name = 'mart' AND table_name = 'value'
           ORDER BY column_index""",
    )
    assert [line.split(",")[0] for line in described.splitlines()[1:]] == [name for name, _ in carried]
    assert all(comment.split(",")[0] in described for _, comment in carried)
    listed = gpuledger("describe", "--format", "csv", data=data).out
    assert set(PROMISED) <= {line.split(",")[0] for line in listed.splitlines()}


#: Endings of a column name that say its unit.
UNITS = {
    "_usd": "USD", "_gb": "GB", "_gb_s": "GB/s", "_tflops": "TFLOPS", "_tops": "TOPS", "_w": "W", "_mhz": "MHz",
    "_hours": "h",
}  # fmt: skip


def test_a_column_whose_name_says_a_unit_has_it() -> None:
    for column in dictionary().columns.values():
        suffix = next((end for end in sorted(UNITS, key=len, reverse=True) if column.name.endswith(end)), None)
        if suffix is not None and column.type not in ("VARCHAR", "BOOLEAN"):
            # A GB of memory has 2^30 bytes and a GB of a file 10^9: the unit may say which one is meant.
            assert column.unit is not None, column.name
            assert column.unit.replace("GiB", "GB").split()[0] == UNITS[suffix], column.name


def test_every_word_of_the_dictionary_is_used() -> None:
    used = {column.name for table in dictionary().tables.values() for column in table.columns}
    with duckdb.connect() as con:
        schema.create(con)
        models = graph.load(con)
    texts = " ".join(model.text for model in models)
    unused = [name for name in dictionary().columns if name not in used and not re.search(rf"\b{name}\b", texts)]
    assert unused == []


def test_every_description_is_a_sentence_of_its_own() -> None:
    for table in dictionary().tables.values():
        assert table.description.startswith("One row per "), f"{table.name}: the grain comes first"
    for column in dictionary().columns.values():
        assert (
            column.description[0].isupper()
            or not column.description[0].isalpha()
            or column.description.split()[0].islower()
        )
        assert len(column.description) >= 3, column.name


# ── links ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def anchors(path: Path) -> set[str]:
    """The anchors of a Markdown file: those of its headings, as the usual renderers write them, and explicit ones."""
    text = text_of(path) or ""
    headings = re.findall(r"^#+\s+(.*?)\s*$", text, re.M)
    return set(re.findall(r'<a id="([^"]+)"', text)) | {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", text_of(path) or "", flags=re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        assert file.exists(), f"{path.name} links to {link}"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{path.name} links to {link}"


# ── the documents that a newcomer reads first ─────────────────────────────────────────────────────────────────────────

ARCHITECTURE = ROOT / "docs" / "architecture.md"
DECISIONS = ROOT / "docs" / "decisions.md"
GLOSSARY = ROOT / "docs" / "glossary.md"
#: Three printed pages.
MOST_WORDS = 1_500
#: All pages together: what a command says itself, or another page, is not said again.
MOST_WORDS_IN_ALL = 16_000
MOST_TERMS = 25


def without_code_blocks(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.S)


def pictures(text: str) -> int:
    return text.count("```mermaid") + len(re.findall(r"!\[|<img\b|<svg\b", text))


def terms(text: str) -> list[str]:
    """The terms of a glossary: the first cell of each row of its table, and every other term that is printed in bold."""
    first_cells = re.findall(r"^\|\s*(?!term\s*\||-)([^|]+?)\s*\|", text, re.M)
    return sorted({cell.strip("* ") for cell in first_cells} | set(re.findall(r"\*\*([^*]+)\*\*", text)))


def test_the_architecture_is_read_in_one_go() -> None:
    text = text_of(ARCHITECTURE) or ""
    assert len(text.split()) <= MOST_WORDS, "a decision and its reasons belong into docs/decisions.md"
    assert pictures(text) == 1, "one picture shows the rooms"


def test_all_that_is_written_is_no_more_than_a_person_reads() -> None:
    words = {path: len((text_of(path) or "").split()) for path in documents() if path.suffix == ".md"}
    assert len(words) > 30
    assert sum(words.values()) <= MOST_WORDS_IN_ALL, sorted(words.items(), key=lambda pair: -pair[1])[:5]


def test_what_is_drawn_and_answered_in_documents_is_what_the_code_gives() -> None:
    """The picture of the rooms; and a README begins with a question and with the answer of the program, and is short."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    architecture = text_of(ARCHITECTURE) or ""
    assert generate.fill(architecture, "rooms", generate.picture()) == architecture, (
        "run `python docs/generate.py rooms`"
    )
    for language, name in (("en", "README.md"), ("ko", "README.ko.md")):
        text, answer = text_of(ROOT / name) or "", generate.first_answer(language)
        assert generate.fill(text, "answer", answer) == text, "run `make docs`"
        assert len(answer.splitlines()) <= 3 + 24, "a small screen of lines below the question"
        places = [text.index(part) for part in ("$ gpuledger", "pip install", "make demo", "docs/images/")]
        assert places == sorted(places)
        assert len(text.split()) <= 500


def test_every_decision_is_read_at_a_glance() -> None:
    records = re.findall(r"^### ([^\n]*)\n\n(.*?)(?=\n+#|\n*\Z)", text_of(DECISIONS) or "", re.M | re.S)
    assert len(records) > 20
    assert len(records) == len({title for title, _ in records})
    assert [title for title, text in records if len(text.splitlines()) > 5] == []


def test_the_glossary_is_short() -> None:
    text = text_of(GLOSSARY) or ""
    assert {"night", "span", "gate"} <= set(terms(text))
    assert len(terms(text)) <= MOST_TERMS, (
        "fold relatives into one row, or explain a term in the document that needs it"
    )


def paths_of_data_directory() -> set[str]:
    """Files and folders that a data directory can hold, relative to it, each with the folders above it."""
    data = DataDir(Path("data"))
    paths = {getattr(data, name) for name, kind in vars(DataDir).items() if isinstance(kind, Place)}
    # What people decide has its names in flows/decisions.
    paths |= {data.root / "decisions" / name for name in ("corrections.toml", "pins.toml")}
    below = [path.relative_to(data.root) for path in paths if isinstance(path, Path)]
    return {str(part) for path in below for part in (path, *path.parents)} - {"."}


def paths_that_do_not_exist(text: str) -> list[str]:
    """The paths and modules between backticks that are neither in the repository nor in a data directory.

    `<name>` in a path stands for anything.
    """
    in_repository = {path.relative_to(ROOT) for path in tracked()}
    names = {path.name for path in in_repository}
    in_data_directory = paths_of_data_directory()
    missing = []
    for name in re.findall(r"`([\w./<>-]+)`", without_code_blocks(text)):
        if "/" in name:
            exists = any(ROOT.glob(re.sub(r"<\w+>", "*", name))) or name.rstrip("/") in in_data_directory
        elif re.fullmatch(r"[\w-]+\.(?:py|toml|lock|md|po|sql|jsonl|duckdb)", name):
            exists = name in names | in_data_directory
        elif name.split(".")[0] in ("extract", "expectations", "warehouse", "transform", "flows") and "." in name:
            exists = is_importable(name)
        else:
            continue
        if not exists:
            missing.append(name)
    return missing


def is_importable(name: str) -> bool:
    try:
        pkgutil.resolve_name(f"gpuledger.{name}")
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("path", [ARCHITECTURE, DECISIONS, GLOSSARY], ids=lambda path: path.name)
def test_every_path_exists_that_these_documents_name(path: Path) -> None:
    assert paths_that_do_not_exist(text_of(path) or "") == []


def test_a_path_that_does_not_exist_is_found() -> None:
    text = "`flows/cli.py` `flows/gone.py` `extract/sources/<shop>/` `gone/<shop>/` `extract.archive.sealed` `extract.gone`"
    assert paths_that_do_not_exist(f"{text} `gone.toml`") == [
        "flows/gone.py",
        "gone/<shop>/",
        "extract.gone",
        "gone.toml",
    ]
    assert paths_that_do_not_exist("`snapshots/runs.jsonl` `snapshots/gone.jsonl`") == ["snapshots/gone.jsonl"]


@pytest.mark.parametrize("path", [ARCHITECTURE, DECISIONS, GLOSSARY], ids=lambda path: path.name)
def test_every_table_exists_that_these_documents_name(path: Path, nights: dict[int, Night]) -> None:
    known = {
        name
        for (name,) in rows(
            nights[2].data,
            """SELECT schema_name || '.' || table_name FROM duckdb_tables()
               UNION SELECT schema_name || '.' || view_name FROM duckdb_views()
               UNION SELECT schema_name || '.' || function_name FROM duckdb_functions()""",
        )
    }
    names = set(re.findall(r"`((?:core|mart|ops)\.\w+)`", text_of(path) or ""))
    assert names
    assert names - known == set()


# ── machines and registries ─────────────────────────────────────────────────────────────────────────────────────────────

#: Paths that belong to somebody's machine: a home, a work folder. A test may name paths that do not exist.
MACHINE = re.compile(r"(?<![\w./-])/(?:home|root|work|Users|mnt)/\w+")
REGISTRY = re.compile(
    # That of Ollama has models, and no packages.
    r"https?://(?!registry\.ollama\.ai)[\w.-]*(?:pypi|pythonhosted|registry|artifactory|nexus|mirror)[\w.-]*/?"
    r"|index-url[ =]+http"
)


def test_no_file_speaks_of_a_machine_or_a_package_registry() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        if (text := text_of(path)) is not None
        for pattern in (MACHINE, REGISTRY)
        if (match := pattern.search(text))
    ]
    assert wrong == []


def test_no_file_is_left_to_be_done() -> None:
    marks = re.compile(r"\b(?:TODO|FIXME)\b(?!\()")
    wrong = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        if path.suffix in (".py", ".sql", ".toml") and not path.is_relative_to(ROOT / "tests")
        if (text := text_of(path)) is not None and (match := marks.search(text))
    ]
    # The command that starts a new source writes such marks for the person who fills them in.
    assert [line for line in wrong if "new_source" not in line and "scaffold" not in line] == []


# ── the questions in examples/ are answered by the warehouse that the sample gives, and say what they ask ────────────────

NOTEBOOK = ROOT / "examples" / "is-this-the-card-to-buy.ipynb"
QUESTIONS = sorted((ROOT / "examples").glob("*.sql"))


def test_there_are_twenty() -> None:
    assert len(QUESTIONS) == 20


@pytest.mark.parametrize("file", QUESTIONS, ids=lambda file: file.stem)
def test_a_question_has_an_answer_and_says_what_it_asks(nights: dict[int, Night], file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith("-- ")
    assert text.splitlines()[0].endswith("?")
    columns, found = user_query(DataDir(nights[2].data), text)
    assert found, "a question that has no answer shows nothing"
    assert len(set(columns)) == len(columns)


def test_every_cell_of_the_notebook_runs_and_shows_rows(
    nights: dict[int, Night], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process and without Jupyter: its format is JSON, and a cell shows what its last line is."""
    monkeypatch.setenv("GPULEDGER_DATA_DIR", str(nights[2].data))
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    for cell in cells:
        *lines, last = ast.parse(cell).body
        assert isinstance(last, ast.Expr), f"it shows nothing:\n{cell}"
        exec(compile(ast.Module(lines, []), NOTEBOOK.name, "exec"), names)
        shown = eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)
        assert shown.fetchall(), f"it shows no row:\n{cell}"
    names["con"].close()
    assert len(cells) >= 8
    assert not any(cell.get("outputs") for cell in notebook["cells"]), "clear its outputs: they are of somebody's data"
