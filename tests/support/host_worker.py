"""A worker in a process of its own: `host_worker.py STORE PORT NAME HOST …` reads ten pages of each host, and says which."""

from __future__ import annotations

import sys

from gpuledger.extract import objects
from gpuledger.extract.fetch.host_leases import HostLeases, Times
from gpuledger.extract.fetch.http import Client, HttpSettings

_PAGES = 10


def main(store: str, port: str, name: str, *hosts: str) -> None:
    shared = objects.of(store)
    assert shared is not None
    settings = HttpSettings(
        user_agent=name, delay_s=0.1, connect_to={host: ("127.0.0.1", int(port)) for host in hosts}
    )  # fmt: skip
    for host in hosts:
        # A source at a time, as a run gives them to a worker.
        with (
            HostLeases(shared, Times(lease_s=3.0, patience_s=60.0)) as leases,
            Client(settings, leases=leases) as client,
        ):
            for page in range(_PAGES):
                client.fetch(f"http://{host}/{page}")
        print(host, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
