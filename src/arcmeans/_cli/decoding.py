"""Bytes of files to text, with messages that say where and why bytes are none."""

import gzip
import zlib
from pathlib import Path
from typing import BinaryIO


class NotTextError(Exception):
    """Bytes that are no text; the message says why, for the user."""


def reason(error: BaseException) -> str:
    if isinstance(error, NotTextError):
        return str(error)
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        return f"the gzip data is damaged or cut off ({error})"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def opened(path: Path) -> BinaryIO:
    """A file, unpacked on the way if it is gzip's."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path)  # type: ignore[return-value]  # a BinaryIO in all but name
    return open(path, "rb")


def check_start(raw: bytes) -> None:
    """An error where a file begins as no text does whose encoding has ASCII in single bytes."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise NotTextError("begins with the mark of UTF-16: say --encoding utf-16")
    check_bytes(raw)


def check_bytes(raw: bytes) -> None:
    if b"\0" in raw:
        raise NotTextError("holds a NUL byte: a binary file, not text")


def decoded(raw: bytes, encoding: str) -> str:
    if by_lines(encoding):
        check_start(raw)
    try:
        return without_mark(raw, encoding).decode(encoding)
    except UnicodeDecodeError as error:
        start = raw.rfind(b"\n", 0, error.start) + 1
        number = raw.count(b"\n", 0, error.start) + 1
        raise NotTextError(f"line {number}: {undecodable(error, error.start - start)}") from error


def without_mark(raw: bytes, encoding: str) -> bytes:
    return raw.removeprefix(b"\xef\xbb\xbf") if encoding == "utf-8" else raw


def undecodable(error: UnicodeDecodeError, at: int) -> str:
    byte = error.object[error.start]
    hint = "; --encoding names another" if error.encoding.replace("_", "-") == "utf-8" else ""
    return f"not {error.encoding} (byte 0x{byte:02x} after {at} bytes{hint})"


def by_lines(encoding: str) -> bool:
    """Whether lines end in ASCII's byte, so that a file can be split before it is decoded."""
    return "\n".encode(encoding) == b"\n"
