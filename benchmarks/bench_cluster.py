"""Four readers and a writer that share a store and a Prefect server on PostgreSQL, and nothing else, read forty shops.

All of it is real and runs in a network and a file system of its own (`unshare`), where the shops have public addresses: no
check of addresses is left out, and no connection leaves the machine. While they read, a reader is killed, the store stops
for 30 s, PostgreSQL is restarted and the writer is stopped for 45 s. Then one machine alone reads the
same shops, and the tables are compared.

PAGES in the environment is how many pages each shop has. Needs root, PostgreSQL's programs, and what `make test` installs.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil

from tests.support import served
from tests.support.stores import SERVER, s3_server

ROOT = Path(__file__).parents[1]
SHOPS, READERS, LIMIT = 40, 4, 2
PAGES = int(os.environ.get("PAGES", "25"))
#: Runs a program in a network and a file system of its own.
ALONE = (
    "setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
)  # fmt: skip
CREDENTIAL = "gpuledger:of-the-benchmark"
#: Of a network that is nobody's here: nothing leads out of the namespace.
ADDRESS = "93.184.216.{}"
DELAY_S = 0.05
OUTAGE_S = 30.0
#: How long the writer is stopped [s].
PAUSE_S = 45.0
CARDS = ("RTX 4090 24GB", "RTX 4080 SUPER 16GB", "RTX 4070 12GB", "Radeon RX 7900 XTX 24GB", "RTX 3060 12GB")
#: Everything of an offer but when it was read.
OFFERS = "SELECT listing_id, gpu_id, title, url, price, currency, availability, seller FROM core.offer ORDER BY ALL"

Line = tuple[str, str, str]


def run() -> list[Line]:
    """What was done and how long it took; no bound: this is to know."""
    if lacking := missing():
        return [("forty shops over four readers", f"not measured: {lacking}", "")]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*ALONE, sys.executable, "-m", "benchmarks.bench_cluster", folder],
            cwd=ROOT, env=served.environment(), check=False, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"the machines ended with status {done.returncode}; what they said is above")
    found: list[Line] = [(what, measured, asked) for what, measured, asked in json.loads(done.stdout.splitlines()[-1])]
    return found


def missing() -> str:
    """What a night in a network of its own needs and this machine has not; empty where it has all."""
    if os.geteuid() != 0:
        return "only root may make a network of its own"
    if not SERVER.exists():
        return "no S3 server; `make test` installs it"
    lacking = [program for program in ("unshare", "ip", "mount", "setpriv") if shutil.which(program) is None]
    return f"no {', '.join(lacking)}" if lacking else "" if _postgresql() else "no PostgreSQL"


def _postgresql() -> Path | None:
    """The folder of PostgreSQL's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


# ── the shops ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def serve_shops(log: Path, latency_s: float = 0.005) -> None:
    """Serve every shop on port 80, each answer after `latency_s`, and note each request: shop, from when to when."""
    with log.open("w", buffering=1) as lines:

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while head := await reader.readuntil(b"\r\n\r\n"):
                    began = time.monotonic()
                    first, *rest = head.decode("latin-1").split("\r\n")
                    path = first.split(" ")[1]
                    headers = dict(line.lower().split(": ", 1) for line in rest if ": " in line)
                    await asyncio.sleep(latency_s)
                    body = b"" if path == "/robots.txt" else _page(headers["host"], int(path.rpartition("/")[2]))
                    kind = "text/plain" if path == "/robots.txt" else "text/html; charset=utf-8"
                    writer.write(
                        f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                        + body
                    )
                    await writer.drain()
                    lines.write(f"{headers['host']} {path} {began} {time.monotonic()}\n")
            writer.close()

        async with await asyncio.start_server(answer, "0.0.0.0", 80) as server:
            await server.serve_forever()


def _page(host: str, number: int) -> bytes:
    title = f"{('ASUS', 'MSI', 'Gigabyte', 'Zotac')[number % 4]} GeForce {CARDS[number % len(CARDS)]} v{number}"
    price = 300 + (number * 37 + sum(map(ord, host))) % 1500
    filling = "".join(f"<li>Point {one} of what the maker says of its {title}.</li>" for one in range(60))
    words = {
        "@context": "https://schema.org", "@type": "Product", "name": title, "sku": f"N{number}",
        "offers": {"@type": "Offer", "price": f"{price}.00", "priceCurrency": "USD",
                   "availability": "https://schema.org/InStock"},
    }  # fmt: skip
    return f"""<!DOCTYPE html><html><head><title>{title}</title>
<script type="application/ld+json">{json.dumps(words)}</script></head><body><h1>{title}</h1>
<p class="price">${price}.00</p><ul>{filling}</ul></body></html>""".encode()


def _asked(log: Path) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for line in log.read_text().splitlines():
        host, _, began, ended = line.split(" ")
        found[host].append((float(began), float(ended)))
    return {host: sorted(times) for host, times in found.items()}


# ── the machines ──────────────────────────────────────────────────────────────────────────────────────────────────────


def network(folder: Path) -> list[str]:
    """The shops' addresses and names, in this namespace alone; their hosts."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    hosts = [f"shop{number}.example.com" for number in range(1, SHOPS + 1)]
    lines = ["127.0.0.1 localhost"]
    for number, host in enumerate(hosts, start=1):
        subprocess.run(["ip", "addr", "add", f"{ADDRESS.format(number)}/32", "dev", "lo"], check=True)
        lines.append(f"{ADDRESS.format(number)} {host}")
    (folder / "hosts").write_text("\n".join(lines) + "\n")
    subprocess.run(["mount", "--bind", str(folder / "hosts"), "/etc/hosts"], check=True)
    return hosts


class _Postgres:
    """A PostgreSQL of its own, which root may not run."""

    def __init__(self, folder: Path) -> None:
        programs = _postgresql()
        assert programs is not None
        self._programs, self._folder = programs, folder
        folder.mkdir()
        shutil.chown(folder, "postgres", "postgres")
        for parent in folder.parents[:-2]:
            parent.chmod(0o755)
        self._as_postgres("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "prefect", "--no-sync")
        self.start()
        self._as_postgres("createdb", "-h", str(folder), "-U", "prefect", "prefect")

    def start(self, word: str = "start") -> None:
        options = f"-k {self._folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._as_postgres("pg_ctl", "-D", str(self._folder / "data"), "-w", "-m", "fast", "-o", options,
                          "-l", str(self._folder / "log"), word)  # fmt: skip

    def _as_postgres(self, program: str, *words: str) -> None:
        subprocess.run(
            ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", str(self._programs / program), *words],
            check=True, stdout=sys.stderr, cwd=self._folder,
        )  # fmt: skip


class _Machines:
    """A Prefect server, a writer and readers; each machine has a folder of its own."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder, self.env = folder, env
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.api = served.Api(env["PREFECT_API_URL"], CREDENTIAL)

    def start(self, name: str, *words: str) -> None:
        home = self.folder / name
        home.mkdir(exist_ok=True)
        env = {**self.env, "PREFECT_HOME": str(home / "prefect"), "GPULEDGER_DATA_DIR": str(home / "data")}
        with (home / "log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                ["prefect", *words], env=env, cwd=home, stdout=log, stderr=log, start_new_session=True
            )

    def reader(self, number: int) -> None:
        self.start(
            f"reader{number}", "worker", "start", "--pool", "gpuledger-read", "--type", "process", "--limit", str(LIMIT)
        )

    def kill(self, name: str) -> None:
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def _machines(folder: Path) -> Iterator[tuple[_Machines, _Postgres]]:
    with ExitStack() as stack:
        store = stack.enter_context(s3_server(folder / "s3"))
        postgres = _Postgres(folder / "postgres")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        env = {
            **served.environment(), **store, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "PREFECT_API_AUTH_STRING": CREDENTIAL,
            "PREFECT_SERVER_API_AUTH_STRING": CREDENTIAL, "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
            "PREFECT_API_DATABASE_CONNECTION_URL": "postgresql+asyncpg://prefect:none@127.0.0.1:5432/prefect",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1", "PREFECT_LOGGING_TO_API_ENABLED": "false",
            "PREFECT_LOGGING_LEVEL": "ERROR", "PREFECT_WORKER_QUERY_SECONDS": "2",
            "GPULEDGER_STORE": "s3://bucket/cluster", "GPULEDGER_READ_DEPLOYMENT": "read/on-workers",
            "GPULEDGER_SETTINGS_FILE": str(folder / "gpuledger.toml"),
        }  # fmt: skip
        machines = _Machines(folder, env)
        machines.start("server", "server", "start", "--host", "127.0.0.1", "--port", port)
        served.until(machines.api.answers, "the server answers")
        with (folder / "set-up.log").open("wb") as log:
            subprocess.run(["sh", "deploy/set-up.sh"], cwd=ROOT, env=env, check=True, stdout=log, stderr=log)
        machines.start("writer", "worker", "start", "--pool", "gpuledger", "--type", "process", "--limit", "1")
        for number in range(READERS):
            machines.reader(number)
        yield machines, postgres
        for name in list(machines.running):
            machines.kill(name)


def _night(machines: _Machines, postgres: _Postgres, log: Path) -> float:
    """One night with its troubles; the seconds that it took."""
    began = time.monotonic()
    deployment = machines.api.deployment("refresh/nightly")
    started = machines.api.post(f"/deployments/{deployment}/create_flow_run", {})["id"]

    def asked(share: float) -> bool:
        return log.exists() and log.read_bytes().count(b"\n") >= share * SHOPS * PAGES

    _until(lambda: asked(0.2), "a fifth of the pages was asked for")
    machines.kill("reader0")
    _say("killed a reader and its runs")
    _until(lambda: asked(0.4), "two fifths were asked for")
    _stop_for([one for one in psutil.process_iter() if one.name() == "weed"], OUTAGE_S)
    _say(f"stopped the store for {OUTAGE_S:g} s")
    _until(lambda: asked(0.6), "three fifths were asked for")
    postgres.start("restart")
    _say("restarted PostgreSQL")
    _until(lambda: asked(0.8), "four fifths were asked for")
    writer = psutil.Process(machines.running["writer"].pid)
    _stop_for([writer, *writer.children(recursive=True)], PAUSE_S)
    _say(f"stopped the writer for {PAUSE_S:g} s")

    def ended() -> Any:
        state = machines.api.get(f"/flow_runs/{started}")["state"]
        return state if state["type"] in served.ENDED else None

    state = _until(ended, "the night ends")
    if state["type"] != "COMPLETED":
        raise AssertionError(f"the night ended with {state['type']}: {state['message']}")
    return time.monotonic() - began


def _stop_for(processes: list[psutil.Process], seconds: float) -> None:
    for one in processes:
        one.suspend()
    time.sleep(seconds)
    for one in processes:
        one.resume()


def _until(what: Any, why: str) -> Any:
    return served.until(what, why, 3600.0)


def _say(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def _rows(data: Path, sql: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        served.command("sql", sql, "--format", "json", data=data), env=served.environment(), check=True, cwd=data.parent,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def main(folder: Path) -> list[Line]:
    """Everything, in the namespace."""
    hosts = network(folder)
    addresses = [f"http://{host}/card/{number}" for number in range(PAGES) for host in hosts]
    (folder / "gpuledger.toml").write_text(
        f'sources = ["generic_shop"]\ndelay_s = {DELAY_S}\nparallel_sources = {SHOPS}\n'
        f"source_timeout_s = 3600\n"
        f"product_urls = {json.dumps(addresses)}\n"
    )
    log = folder / "asked"
    shops = subprocess.Popen([sys.executable, "-m", "benchmarks.bench_cluster", "shops", str(log)], cwd=ROOT)
    lines: list[Line] = []
    try:
        with _machines(folder) as (machines, postgres):
            seconds = _night(machines, postgres, log)
            writer = folder / "writer" / "data"
            together = _rows(writer, OFFERS)
            versions = _rows(writer, "SELECT count(*) AS n FROM ops.run WHERE status LIKE 'published%'")
        asked = _asked(log)
        twice = sum(after[0] < before[1] for times in asked.values() for before, after in pairwise(times))
        (folder / "alone").mkdir()
        settings = {"GPULEDGER_SETTINGS_FILE": str(folder / "gpuledger.toml")}
        began = time.monotonic()
        subprocess.run(
            served.command("refresh", "--engine", "plain", "--quiet", data=folder / "alone" / "data"), check=False,
            env=served.environment(**settings), cwd=folder / "alone", stdout=sys.stderr,
        )  # fmt: skip
        alone_s = time.monotonic() - began
        alone = _rows(folder / "alone" / "data", OFFERS)
    finally:
        shops.kill()
    differing = [row for row in alone if row not in together] if together != alone else []
    lines += [
        (f"{SHOPS} shops, {SHOPS * PAGES} pages, {READERS} readers: a night with its troubles", f"{seconds:.0f} s", ""),
        ("the same on one machine without any", f"{alone_s:.0f} s", ""),
        ("offers read together, and alone", f"{len(together)}, {len(alone)}", f"{SHOPS * PAGES} each"),
        ("offers that differ", f"{len(differing)}", "0"),
        ("requests to a shop while it answered another", f"{twice}", "0"),
        ("pages asked for more than once, by who read for the killed reader",
         f"{sum(map(len, asked.values())) - SHOPS * PAGES - len(asked)}", ""),
        ("versions published", str(versions[0]["n"]), "1"),
    ]  # fmt: skip
    return lines


if __name__ == "__main__":
    if sys.argv[1] == "shops":
        asyncio.run(serve_shops(Path(sys.argv[2])))
    else:
        print(json.dumps(main(Path(sys.argv[1]))))
