"""Objects in a store that machines share: whole files under keys.

`s3://bucket/prefix`, `gs://…` and `az://…` use obstore, with the credentials from the usual environment variables of each.
`file:///folder` is for tests and for machines that mount the same disk. This module imports no other module of the program,
so that every package may use it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from obstore.store import ObjectStore

SCHEMES = ("s3", "gs", "az", "file")
#: Requests to a store that does not answer are repeated for so long [s]. A store that restarts is back by then.
PATIENCE_S = 120.0


class StoreError(OSError):
    """The store refuses or does not answer. The message says which store, what failed, and what to do."""


class BadAddress(ValueError):
    """The address is not the address of a store."""


class Readable(Protocol):
    """Files below an address. Raises StoreError if the place does not answer."""

    address: str

    def get(self, key: str, most: int = ...) -> bytes | None:
        """The content of a file of up to `most` bytes. None if there is no such file."""


class Objects(Readable, Protocol):
    """The objects below one address, a store's, which is trusted with their sizes. Every method raises StoreError."""

    def write(self, key: str, content: bytes) -> None:
        """Write an object, over the one that is there. Nobody ever sees a part of it."""

    def size(self, key: str) -> int | None:
        """The size of an object in bytes. None if there is no such object."""

    def listed(self, prefix: str) -> Iterator[str]:
        """Every key that begins with `prefix`, in order. `prefix` ends with a slash, or is empty."""

    def delete(self, keys: Iterable[str]) -> None:
        """Remove objects. Keys without an object are ignored."""


@lru_cache(maxsize=8)
def store_at(address: str, patience_s: float = PATIENCE_S) -> Objects | None:
    """The store at an address. None for an empty address.

    Requests to a store that does not answer are repeated for `patience_s`. Raises BadAddress, StoreError, and
    ModuleNotFoundError if obstore is not installed.
    """
    if not address:
        return None
    check(address)
    if address.startswith("file:"):
        return _Folder(address)
    return _Bucket(address, patience_s)


def folder(path: Path) -> Objects:
    """A store in a folder of this machine."""
    return _Folder(str(path), path)


def check(address: str) -> None:
    """Raise BadAddress, which says what a valid address is, if `address` is not the address of a store."""
    parts = urlsplit(address)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise BadAddress(
            f"{parts.scheme}://{parts.hostname or ''}…: the address of a store holds no credentials and no options; they "
            "are taken from the environment (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, GOOGLE_APPLICATION_CREDENTIALS, AZURE_…)"
        )
    is_place = bool(parts.path.strip("/")) and not parts.netloc if parts.scheme == "file" else bool(parts.netloc)
    if parts.scheme not in SCHEMES or not is_place or ".." in parts.path.split("/"):
        raise BadAddress(
            f"{address!r} is no address of a store: s3://bucket/prefix, gs://bucket/prefix, az://container/prefix "
            "or file:///folder"
        )


class _Folder:
    """A store in a folder."""

    def __init__(self, address: str, root: Path | None = None) -> None:
        self.address = address
        self._root = root or Path(urlsplit(address).path)
        #: What a person names as a folder is for others to read.
        self._mode = 0o700 if root is None else 0o755

    def get(self, key: str, most: int = 0) -> bytes | None:
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, key: str, content: bytes) -> None:
        path = self._path(key)
        part = path.with_name(f".{secrets.token_hex(8)}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=self._mode)
            part.write_bytes(content)
            part.replace(path)
        except OSError as error:  # of a full disk it names no file
            raise StoreError(error.errno, error.strerror, str(path)) from None
        finally:
            with suppress(OSError):
                part.unlink()

    def size(self, key: str) -> int | None:
        with suppress(FileNotFoundError):
            return self._path(key).stat().st_size
        return None

    def listed(self, prefix: str) -> Iterator[str]:
        folder = self._path(prefix) if prefix else self._root
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                yield path.relative_to(self._root).as_posix()

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._root / _safe(key)


class _Bucket:
    """A store in a bucket, through obstore."""

    def __init__(self, address: str, patience_s: float) -> None:
        from obstore.store import from_url

        self.address = address
        patience = timedelta(seconds=patience_s)
        try:
            self._store: ObjectStore = from_url(
                address,
                retry_config={"max_retries": 1000, "retry_timeout": patience, "backoff": {
                    "init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=3), "base": 2,
                }},
            )  # fmt: skip
        except Exception as error:  # noqa: BLE001  obstore's errors and ValueError all say what is wrong in the environment
            raise StoreError(_message(address, "open it", error)) from None

    def get(self, key: str, most: int = 0) -> bytes | None:
        import obstore

        _safe(key)
        with self._as_store_errors(f"read {key}"):
            try:
                return obstore.get(self._store, key).bytes().to_bytes()
            except FileNotFoundError:
                return None

    def write(self, key: str, content: bytes) -> None:
        import obstore

        _safe(key)
        with self._as_store_errors(f"write {key}"):
            obstore.put(self._store, key, content)

    def size(self, key: str) -> int | None:
        import obstore

        _safe(key)
        with self._as_store_errors(f"look for {key}"):
            try:
                return obstore.head(self._store, key)["size"]
            except FileNotFoundError:
                return None

    def listed(self, prefix: str) -> Iterator[str]:
        import obstore

        with self._as_store_errors(f"list {prefix}"):
            for page in obstore.list(self._store, prefix.rstrip("/") or None):
                yield from (item["path"] for item in page)

    def delete(self, keys: Iterable[str]) -> None:
        import obstore

        safe_keys = [_safe(key) for key in keys]
        with self._as_store_errors(f"remove {len(safe_keys)} objects"), suppress(FileNotFoundError):
            obstore.delete(self._store, safe_keys)

    @contextmanager
    def _as_store_errors(self, what: str) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, PermissionError) as error:
            raise StoreError(_message(self.address, what, error)) from None


def _message(address: str, what: str, error: Exception) -> str:
    reason = re.sub(r"\s+", " ", str(error).partition("Debug source")[0]).strip()[:300]
    return (
        f"{address}: could not {what} ({reason}); see that the store answers, that the bucket is there, and that the "
        "environment has its credentials (gpuledger takes them from nowhere else)"
    )


def _safe(key: str) -> str:
    """The key. Raises ValueError if the key would lead out of the store."""
    if key.startswith("/") or any(part in ("", ".", "..") for part in key.rstrip("/").split("/")):
        raise ValueError(f"{key!r} is no key of an object")
    return key
