"""Put small faults into central modules, one at a time, and see whether their tests notice.

    python tools/mutate.py [--seed 1] [--each 14] [--list] [name ...]

Works on a copy of the project. `mutants.toml` beside it names the modules, the tests that should notice (quickest first),
and the mutants that change nothing. A seed and a module always make the same mutants; another seed makes others.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name("mutants.toml")

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
#: In SQL: what is found, and what it becomes.
SQL = [
    (re.compile(pattern), new)
    for pattern, new in (
        (r"\bAND\b", "OR"), (r"\bOR\b(?! REPLACE)", "AND"), (r"<=", "<"), (r">=", ">"), (r"<>", "="),
        (r"(?<![<-])>(?![=>])", ">="), (r"<(?![=>-])", "<="), (r"(?<= )=(?= )", "<>"),
        (r"\bIS NULL\b", "IS NOT NULL"), (r"\bIS NOT NULL\b", "IS NULL"),
        (r"\bIS DISTINCT FROM\b", "IS NOT DISTINCT FROM"), (r"\bIS NOT DISTINCT FROM\b", "IS DISTINCT FROM"),
        (r"\bNOT EXISTS\b", "EXISTS"), (r"\bNOT (?!NULL|DISTINCT|EXISTS|IN\b)", ""), (r"\btrue\b", "false"),
        (r"\bfalse\b", "true"), (r"\bDESC\b", "ASC"), (r"\bASC\b", "DESC"), (r"\bmin\(", "max("), (r"\bmax\(", "min("),
        (r"\blag\(", "lead("), (r"\blead\(", "lag("), (r"\barg_max\(", "arg_min("), (r"\barg_min\(", "arg_max("),
        (r"\bsum\(", "avg("), (r"\bmedian\(", "max("), (r"\bASOF LEFT JOIN\b", "ASOF JOIN"), (r"\bLEFT JOIN\b", "JOIN"),
        (r"\bSEMI JOIN\b", "ANTI JOIN"), (r"\bANTI JOIN\b", "SEMI JOIN"), (r"\bDISTINCT (?!FROM|ON)", ""),
        (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"), (r"(?<= )\*(?= )", "/"), (r"(?<= )/(?= )", "*"),
        (r"(?<= )(?<!SELECT )(\d+)\b", r"1\1"), (r"'(\w+)'", r"'\1_x'"),
        (r"\bcoalesce\((\w+(?:\.\w+)?), (\w+(?:\.\w+)?)\)", r"coalesce(\2, \1)"),
    )
]  # fmt: skip
#: What of SQL is left alone: comments, and what Python puts in.
MASKED = re.compile(r"--[^\n]*|\{[^{}]*\}")
IS_SQL = re.compile(r"\b(SELECT|DELETE FROM|INSERT INTO|UPDATE \S+|WHERE|FROM)\b")


@dataclass(frozen=True)
class Mutant:
    """One fault: the bytes from `start` to `end` become `new`."""

    start: int
    end: int
    new: bytes

    def of(self, source: bytes) -> bytes:
        """The source with the fault in it."""
        return source[: self.start] + self.new + source[self.end :]

    def line(self, source: bytes) -> int:
        """The line, from 1, that it begins on."""
        return source.count(b"\n", 0, self.start) + 1

    def shown(self, source: bytes) -> tuple[str, str]:
        """The lines that it changes, before and after, without indentation."""
        first, last = source.rfind(b"\n", 0, self.start) + 1, source.find(b"\n", self.end)
        last = len(source) if last < 0 else last
        before, after = source[first:last], source[first : self.start] + self.new + source[self.end : last]
        return " ".join(before.decode().split()), " ".join(after.decode().split())


def in_sql(source: bytes, start: int = 0, end: int | None = None) -> Iterator[Mutant]:
    """The faults that SQL can have between two bytes."""
    text = source[start:end].decode()
    plain = MASKED.sub(lambda found: "\x00" * len(found.group()), text)
    for pattern, new in SQL:
        for match in pattern.finditer(plain):
            at = start + len(text[: match.start()].encode())
            was = match.group().encode()
            yield Mutant(at, at + len(was), match.expand(new).encode())


def in_python(source: bytes) -> Iterator[Mutant]:
    """The faults that a Python module can have, those of its SQL too. Word lists (regular expressions) are left alone."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))

    def span(node: ast.AST) -> tuple[int, int]:
        return lines[node.lineno - 1] + node.col_offset, lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def code(node: ast.AST) -> bytes:
        start, end = span(node)
        return source[start:end]

    def visit(node: ast.AST) -> Iterator[Mutant]:
        start, end = span(node) if hasattr(node, "lineno") else (0, 0)
        match node:
            case ast.Subscript(value=ast.Name(id="Literal")) | ast.Assign(targets=[ast.Name(id="__all__")]):
                return
            case (
                ast.Expr(value=ast.Constant(value=str())) | ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Raise()
            ):
                return
            case ast.Compare(left=left, ops=ops, comparators=rights):
                for one, op, other in zip([left, *rights], ops, rights, strict=False):
                    yield Mutant(span(one)[1], span(other)[0], f" {COMPARISONS[type(op)]} ".encode())
            case ast.BoolOp(op=op, values=values):
                for one, other in pairwise(values):
                    gap = source[span(one)[1] : span(other)[0]]
                    was, new = (b"and", b"or") if isinstance(op, ast.And) else (b"or", b"and")
                    yield Mutant(span(one)[1], span(other)[0], gap.replace(was, new))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield Mutant(start, end, b"bool(" + code(operand) + b")")
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                gap = source[span(left)[1] : span(right)[0]]
                swapped = gap.replace(b"+", b"-") if isinstance(op, ast.Add) else gap.replace(b"-", b"+")
                yield Mutant(span(left)[1], span(right)[0], swapped)
            case ast.Constant(value=bool() as value):
                yield Mutant(start, end, str(not value).encode())
            case ast.Constant(value=int() | float() as value):
                yield Mutant(start, end, str(value + 1).encode())
            case ast.Constant(value=str()) | ast.JoinedStr():
                text = code(node).decode()
                if IS_SQL.search(text):
                    yield from in_sql(source, start, end)
                elif re.fullmatch(r"[\"'][A-Za-z_]\w*(\.\w+)?[\"']", text):
                    yield Mutant(end - 1, end - 1, b"_x")
                return
            case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
                yield Mutant(*span(value), b"None")
            case ast.Continue() | ast.Break() | ast.AugAssign() | ast.Delete() | ast.Expr(value=ast.Call()):
                yield Mutant(start, end, b"pass")
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield Mutant(start, end, b"pass")
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                yield Mutant(*span(test), b"(not (" + code(test) + b"))")
            case ast.Dict(keys=keys, values=values) if len(keys) > 1:
                for key, value in zip(keys, values, strict=True):
                    if key is not None:
                        at, to = span(key)[0], span(value)[1]
                        yield Mutant(at, to + len(re.match(rb"\s*,?", source[to:]).group()), b"")  # type: ignore[union-attr]
        for name, field in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            for child in field if isinstance(field, list) else [field]:
                if isinstance(child, ast.AST):
                    yield from visit(child)

    yield from visit(ast.parse(source))


def sample(path: Path, seed: int, each: int) -> list[Mutant]:
    """`each` mutants of a file that still parse, at most one a line, in the order of the file."""
    source = path.read_bytes()
    found = in_sql(source) if path.suffix == ".sql" else in_python(source)
    by_line: dict[int, list[Mutant]] = {}
    for mutant in found:
        if mutant.of(source) != source and (path.suffix == ".sql" or _parses(mutant.of(source))):
            by_line.setdefault(mutant.line(source), []).append(mutant)
    pick = random.Random(f"{seed} {path.name}")
    lines = sorted(pick.sample(sorted(by_line), min(each, len(by_line))))
    return [pick.choice(by_line[line]) for line in lines]


def _parses(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def path_of(root: Path, module: str) -> Path:
    """The file of a module or model, by the dotted name that it has inside `gpuledger`."""
    base = root.joinpath(*module.split("."))
    return next(path for path in (base / "query.sql", base.with_suffix(".py"), base / "__init__.py") if path.exists())


def copy(to: Path) -> Path:
    """A copy of the files that git knows, with the shared data beside it where there is any."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    for name in names.decode().split("\0"):
        if name and (ROOT / name).exists():
            (to / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / "tree" / name, follow_symlinks=False)
    if (ROOT.parent / "shared").exists():
        (to / "shared").symlink_to((ROOT.parent / "shared").resolve())
    return to / "tree"


def notices(tests: list[str], seconds: float, log: Path) -> bool:
    """Run the tests in a process of its own until one fails. A mutant that runs into the time limit is noticed, too."""
    child = os.fork()
    if not child:
        os.setsid()
        with log.open("w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
        code = 3
        try:
            import pytest

            code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
        finally:
            os._exit(code)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def main() -> int:
    """Print each mutant with its end, and the share that was noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=14, help="mutants a module")
    parser.add_argument("--seconds", type=float, default=300, help="time limit of a mutant")
    parser.add_argument("--list", action="store_true", help="only show the mutants")
    parser.add_argument("names", nargs="*", help="modules, or the beginnings of their names")
    asked = parser.parse_args()
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    equal = {(one["module"], one["before"], one["after"]) for one in table.get("equal", [])}
    totals = {"killed": 0, "SURVIVED": 0, "equal": 0}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = copy(Path(folder))
        os.chdir(tree)
        os.environ |= {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.path[0] = str(tree)
        sys.dont_write_bytecode = True
        subprocess.run([sys.executable, "-m", "compileall", "-q", "."], check=False)
        if not asked.list:
            # What every test process would load again; nothing of ours, which is what changes.
            import babel.numbers  # noqa: F401
        for module, tests in table["tests"].items():
            if asked.names and not any(module.startswith(name) for name in asked.names):
                continue
            path = path_of(tree, module)
            source, counts = path.read_bytes(), dict.fromkeys(totals, 0)
            for mutant in sample(path, asked.seed, asked.each):
                before, after = mutant.shown(source)
                if asked.list:
                    print(f"{module}:{mutant.line(source)}\n    - {before}\n    + {after}")
                    continue
                started = time.monotonic()
                if (module, before, after) in equal:
                    end = "equal"
                else:
                    path.write_bytes(mutant.of(source))
                    for stale in path.parent.glob(f"__pycache__/{path.stem}.*"):
                        stale.unlink()
                    end = "killed" if notices(tests, asked.seconds, Path(folder) / "log") else "SURVIVED"
                    path.write_bytes(source)
                counts[end] += 1
                print(f"{end:8} {time.monotonic() - started:4.0f} s  {module}:{mutant.line(source)}")
                print(f"    - {before}\n    + {after}", flush=True)
            totals = {end: totals[end] + count for end, count in counts.items()}
            print(f"== {module}: {_rate(counts)}", flush=True)
        print(f"== all: {_rate(totals)}")
    return 0


def _rate(counts: dict[str, int]) -> str:
    real = counts["killed"] + counts["SURVIVED"]
    share = f"{counts['killed'] / real:.0%}" if real else "-"
    return f"{counts['killed']} of {real} noticed ({share}), {counts['equal']} change nothing"


if __name__ == "__main__":
    sys.exit(main())
