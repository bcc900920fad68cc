"""Reads the body of a response, with a size limit before and after decompression, and checks that it is complete.

requests returns a gzip stream that ends early as if it were whole, and decompresses without a limit. So this module reads
the raw bytes and decompresses them piece by piece.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping

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
    unpack = _unpacker(headers)
    content, wire_bytes = bytearray(), 0
    for piece in pieces:
        wire_bytes += len(piece)
        if wire_bytes > max_bytes:
            raise BodyTooLarge(f"more than {max_bytes} bytes sent")
        unpack.feed(piece, content, max_bytes)
    if wire_bytes:
        unpack.finish(content, max_bytes)
    if not measured and isinstance(unpack, _Plain):
        _check_unmeasured(content)
    return bytes(content), wire_bytes


def read_start(pieces: Iterable[bytes], headers: Mapping[str, str], max_bytes: int) -> bytes:
    """At most the first `max_bytes` of the body after decompression. The rest is neither read nor checked.

    For robots.txt, which need not be read beyond a limit, and for pages with an error status. Raises BodyTruncated and
    UnknownEncoding.
    """
    unpack = _unpacker(headers)
    content = bytearray()
    for piece in pieces:
        try:
            unpack.feed(piece, content, max_bytes)
        except BodyTooLarge:
            break
    return bytes(content[:max_bytes])


def _check_unmeasured(content: bytearray) -> None:
    """Check a body without an announced length, which ends with the connection. HTML is complete if it has its end tag."""
    if b"<html" in content[:4096].lower() and b"</html" not in content.lower():
        raise BodyTruncated(f"the connection ended after {len(content)} bytes, before the end of the document")


def _unpacker(headers: Mapping[str, str]) -> _Plain | _Deflate:
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding in ("gzip", "x-gzip"):
        return _Gzip()
    if encoding == "deflate":
        return _Deflate()
    # "utf-8" and "none" are not encodings, but some servers send these words with plain bodies.
    if encoding in ("", "identity", "none", "utf-8"):
        return _Plain()
    raise UnknownEncoding(f"the body is encoded as {encoding!r}, though only {ACCEPT_ENCODING} was asked for")


class _Plain:
    def feed(self, piece: bytes, content: bytearray, max_bytes: int) -> None:
        """Append one piece to `content`."""
        content += piece
        if len(content) > max_bytes:
            raise BodyTooLarge(f"more than {max_bytes} bytes")

    def finish(self, content: bytearray, max_bytes: int) -> None:
        """Nothing to check, because urllib3 compares the length."""


class _Deflate:
    """RFC 9110 means a zlib stream by `deflate`. Some servers send the bare stream, without zlib's header (RFC 1950)."""

    def __init__(self) -> None:
        self._stream: zlib._Decompress | None = None

    def _open(self, first: bytes) -> zlib._Decompress:
        bare = first[0] & 0x0F != 8 or (len(first) > 1 and int.from_bytes(first[:2], "big") % 31 != 0)
        return zlib.decompressobj(-zlib.MAX_WBITS if bare else zlib.MAX_WBITS)

    def feed(self, piece: bytes, content: bytearray, max_bytes: int) -> None:
        """Decompress one piece and append it to `content`."""
        while piece:
            if self._stream is None:
                self._stream = self._open(piece)
            try:
                content += self._stream.decompress(piece, _PIECE)
            except zlib.error as error:
                raise BodyTruncated(f"the compressed body is damaged after {len(content)} bytes: {error}") from None
            if len(content) > max_bytes:
                raise BodyTooLarge(f"more than {max_bytes} bytes after decompression")
            piece = self._remaining()

    def _remaining(self) -> bytes:
        """The part of the piece that is not decompressed yet. Empty after the end of the stream, as only padding follows."""
        assert self._stream is not None
        return b"" if self._stream.eof else self._stream.unconsumed_tail

    def finish(self, content: bytearray, max_bytes: int) -> None:
        """Raise BodyTruncated if the stream has not ended."""
        if self._stream is not None and not self._stream.eof:
            # zlib may hold back output after all input is used, and the end mark can be in that output.
            while not self._stream.eof:
                more = self._stream.decompress(b"", _PIECE)
                content += more
                if len(content) > max_bytes:
                    raise BodyTooLarge(f"more than {max_bytes} bytes after decompression")
                if not more:
                    break
        if self._stream is None or not self._stream.eof:
            raise BodyTruncated(f"the compressed body ends early, {len(content)} bytes after decompression")


class _Gzip(_Deflate):
    """One or more gzip members (RFC 1952, 2.2). Bytes after a member are padding unless they start another member."""

    def _open(self, first: bytes) -> zlib._Decompress:
        return zlib.decompressobj(16 + zlib.MAX_WBITS)

    def _remaining(self) -> bytes:
        assert self._stream is not None
        if not self._stream.eof:
            return self._stream.unconsumed_tail
        unused = self._stream.unused_data
        if unused[:2] == b"\x1f\x8b":
            self._stream = None
            return unused
        return b""
