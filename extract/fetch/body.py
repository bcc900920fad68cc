"""Reads the body of a response, with a size limit before and after decompression, and checks that it is complete.

requests returns a gzip stream that ends early as if it were whole, and decompresses without a limit. So this module reads
the raw bytes and decompresses them piece by piece.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

_PIECE = 1 << 16
#: Most digits of a Content-Length that can be true: with more, the body is larger than all disks of the world.
_LONGEST_SIZE = 20

#: The encodings that the client may ask for: those whose end this module can check.
ACCEPT_ENCODING = "gzip, deflate"


class BodyTooLarge(Exception):
    """The body is larger than the limit."""


class BodyTruncated(Exception):
    """The body is incomplete or damaged."""


class UnknownEncoding(Exception):
    """The server used an encoding that the client did not ask for."""


def decompressed(pieces: Iterable[bytes], headers: Mapping[str, str], max_bytes: int) -> tuple[bytes, int]:
    """The body after decompression, and its size in bytes as sent.

    `pieces` are the raw bytes as they arrive. Exceptions from reading them pass through. `headers` have lower-case names.
    Raises BodyTooLarge, BodyTruncated and UnknownEncoding.
    """
    announced = headers.get("content-length", "")
    measured = announced.isdecimal() or "transfer-encoding" in headers
    # The number of digits is checked first, because Python refuses to convert a number of thousands of digits.
    if announced.isdecimal() and (len(announced) > _LONGEST_SIZE or int(announced) > max_bytes):
        raise BodyTooLarge(f"{announced:.{_LONGEST_SIZE}} bytes announced, the cap is {max_bytes}")
    content, wire_bytes = bytearray(), 0

    def sent() -> Iterator[bytes]:
        nonlocal wire_bytes
        for piece in pieces:
            wire_bytes += len(piece)
            if wire_bytes > max_bytes:
                raise BodyTooLarge(f"more than {max_bytes} bytes sent")
            yield piece

    encoding = _encoding(headers)
    for part in _unpacked(sent(), encoding, to_end=True) if encoding else sent():
        content += part
        if len(content) > max_bytes:
            raise BodyTooLarge(f"more than {max_bytes} bytes after decompression")
    if not measured and not encoding:
        _check_unmeasured(content)
    return bytes(content), wire_bytes


def read_start(pieces: Iterable[bytes], headers: Mapping[str, str], max_bytes: int) -> bytes:
    """At most the first `max_bytes` of the body after decompression. The rest is neither read nor checked.

    For robots.txt, which need not be read beyond a limit, and for pages with an error status. Raises BodyTruncated and
    UnknownEncoding.
    """
    encoding = _encoding(headers)
    content = bytearray()
    for part in _unpacked(pieces, encoding, to_end=False) if encoding else pieces:
        content += part
        if len(content) > max_bytes:
            break
    return bytes(content[:max_bytes])


def _check_unmeasured(content: bytearray) -> None:
    """Check a body without an announced length, which ends with the connection. HTML is complete if it has its end tag."""
    if b"<html" in content[:4096].lower() and b"</html" not in content.lower():
        raise BodyTruncated(f"the connection ended after {len(content)} bytes, before the end of the document")


def _encoding(headers: Mapping[str, str]) -> Literal["gzip", "deflate"] | None:
    """How the body is compressed. None if it is not. Raises UnknownEncoding."""
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding in ("gzip", "x-gzip"):
        return "gzip"
    if encoding == "deflate":
        return "deflate"
    # "utf-8" and "none" are not encodings, but some servers send these words with plain bodies.
    if encoding in ("", "identity", "none", "utf-8"):
        return None
    raise UnknownEncoding(f"the body is encoded as {encoding!r}, though only {ACCEPT_ENCODING} was asked for")


def _unpacked(pieces: Iterable[bytes], encoding: Literal["gzip", "deflate"], *, to_end: bool) -> Iterator[bytes]:
    """The body after decompression, in parts of limited size.

    A body of gzip has one or more members (RFC 1952, 2.2). Bytes after a member are padding unless they start another
    member. With `to_end`, raises BodyTruncated after the last part if the stream has not ended.
    """
    stream: zlib._Decompress | None = None
    size = 0
    for piece in pieces:
        while piece:
            stream = stream or _opened(piece, encoding)
            try:
                part = stream.decompress(piece, _PIECE)
            except zlib.error as error:
                raise BodyTruncated(f"the compressed body is damaged after {size} bytes: {error}") from None
            size += len(part)
            yield part
            piece = b"" if stream.eof else stream.unconsumed_tail
            if stream.eof and encoding == "gzip" and stream.unused_data[:2] == b"\x1f\x8b":
                piece, stream = stream.unused_data, None
    if stream is None or not to_end:
        return
    # zlib may hold back output after all input is used, and the end mark can be in that output.
    while not stream.eof and (part := stream.decompress(b"", _PIECE)):
        size += len(part)
        yield part
    if not stream.eof:
        raise BodyTruncated(f"the compressed body ends early, {size} bytes after decompression")


def _opened(first: bytes, encoding: Literal["gzip", "deflate"]) -> zlib._Decompress:
    """RFC 9110 means a zlib stream by `deflate`. Some servers send the bare stream, without zlib's header (RFC 1950)."""
    if encoding == "gzip":
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    bare = first[0] & 0x0F != 8 or (len(first) > 1 and int.from_bytes(first[:2], "big") % 31 != 0)
    return zlib.decompressobj(-zlib.MAX_WBITS if bare else zlib.MAX_WBITS)
