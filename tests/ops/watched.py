"""`python watched.py LOG MODULE [argument …]`: run a module and write down every name look-up and connection.

What is not on this machine is refused, so that what the program would do on the internet is seen and not done.
"""

from __future__ import annotations

import ipaddress
import json
import runpy
import socket
import sys


def main() -> None:
    log = open(sys.argv[1], "a", encoding="utf-8", buffering=1)  # noqa: SIM115, PTH123 (open as long as the process)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyname_ex"):
            host = arguments[0]
        elif event in ("socket.connect", "socket.sendto"):
            if not isinstance(arguments[1], tuple):
                return  # a socket of the file system
            host = arguments[1][0]
        else:
            return
        is_here = host in (None, "", b"", "localhost", socket.gethostname()) or _is_loopback(host)
        log.write(json.dumps([event, str(host), is_here]) + "\n")
        if not is_here:
            raise OSError(f"{event} of {host}: not on this machine")

    sys.addaudithook(hook)
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _is_loopback(host: object) -> bool:
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


if __name__ == "__main__":
    main()
