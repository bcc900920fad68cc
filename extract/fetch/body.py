"""Reads the body of a response, with a size limit before and after decompression, and checks that it is complete.

requests returns a gzip stream that ends early as if it were whole, and decompresses without a limit. So this module reads
the raw bytes and decompresses them itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping

from gpuledger import local_files
from gpuledger.errors import FetchError, TooLarge, Truncated

#: Most digits of a Content-Length that can be true: with more, the body is larger than all disks of the world.
_LONGEST_SIZE = 20

#: The encoding that the client asks for: this module can check its end, and every server knows it.
ACCEPT_ENCODING = "gzip"


def decompressed(pieces: Iterable[bytes], headers: Mapping[str, str], max_bytes: int, url: str) -> bytes:
    """The body after decompression.

    `pieces` are the raw bytes as they arrive. Exceptions from reading them pass through. `headers` have lower-case names.
    Raises TooLarge, Truncated and FetchError, which name `url`.
    """
    announced = headers.get("content-length", "")
    # The number of digits is checked first, because Python refuses to convert a number of thousands of digits.
    if announced.isdecimal() and (len(announced) > _LONGEST_SIZE or int(announced) > max_bytes):
        raise TooLarge(url, f"{announced:.{_LONGEST_SIZE}} bytes announced, the cap is {max_bytes}")
    is_gzip = _is_gzip(headers, url)
    sent = bytearray()
    for piece in pieces:
        sent += piece
        if len(sent) > max_bytes:
            raise TooLarge(url, f"more than {max_bytes} bytes sent")
    if is_gzip:
        return _unpacked(bytes(sent), max_bytes, url)
    # A body without an announced length ends with the connection. HTML is complete if it has its end tag.
    is_measured = announced.isdecimal() or "transfer-encoding" in headers
    if not is_measured and b"<html" in sent[:4096].lower() and b"</html" not in sent.lower():
        raise Truncated(url, f"the connection ended after {len(sent)} bytes, before the end of the document")
    return bytes(sent)


def read_start(pieces: Iterable[bytes], headers: Mapping[str, str], max_bytes: int, url: str) -> bytes:
    """At most the first `max_bytes` of the body after decompression. The rest is neither read nor checked.

    For robots.txt, which need not be read beyond a limit, and for pages with an error status. Raises Truncated and
    FetchError, which name `url`.
    """
    stream = zlib.decompressobj(16 + zlib.MAX_WBITS) if _is_gzip(headers, url) else None
    content = bytearray()
    try:
        for piece in pieces:
            content += piece if stream is None else stream.decompress(piece, max_bytes)
            if len(content) >= max_bytes:
                break
    except zlib.error as error:
        raise Truncated(url, f"the compressed body is damaged: {error}") from None
    return bytes(content[:max_bytes])


def _is_gzip(headers: Mapping[str, str], url: str) -> bool:
    encoding = headers.get("content-encoding", "").strip().lower()
    # "utf-8" and "none" are not encodings, but some servers send these words with plain bodies.
    if encoding in ("", "identity", "none", "utf-8"):
        return False
    if encoding in ("gzip", "x-gzip"):
        return True
    seen = f"the body is encoded as {encoding!r}, though only {ACCEPT_ENCODING} was asked for"
    raise FetchError(url, seen, "report it: the client cannot check that such a body is whole")


def _unpacked(sent: bytes, max_bytes: int, url: str) -> bytes:
    try:
        if not sent.startswith(local_files.GZIP):
            raise ValueError("is none of gzip")
        return local_files.gunzipped(sent, max_bytes)
    except local_files.TooMuch:
        raise TooLarge(url, f"more than {max_bytes} bytes after decompression") from None
    except ValueError as error:
        raise Truncated(url, f"the compressed body {error}") from None
