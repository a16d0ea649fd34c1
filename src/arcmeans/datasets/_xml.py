"""Large XML files, compressed or not, read from end to end in constant memory.

No entity may be declared in a file, so that none can be expanded without end, and nothing outside
of it is ever read. The named characters of HTML 4, which take in those of ``dblp.dtd``, are known
where a file refers to a DTD of its own.
"""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.entities import name2codepoint
from pathlib import Path
from typing import Any, BinaryIO, Protocol
from xml.parsers import expat

from .._support.progress import ByteProgress

CHUNK = 1 << 20
_MAGIC: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
SEVEN_ZIP = b"7z\xbc\xaf\x27\x1c"


class Handler(Protocol):
    """Gets the elements and texts of a file, as they come."""

    def start(self, tag: str, attributes: dict[str, str]) -> None: ...
    def end(self, tag: str) -> None: ...
    def text(self, data: str) -> None: ...


def parse(path: Path, handler: Handler) -> None:
    """Tell the handler all of a file, with progress.

    Raises ValueError with the place where the file is broken, ends too early, declares an entity
    or refers to one that is not known.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text

    def declared(name: str, *_: object) -> None:
        raise ValueError(f"it declares the entity {name!r}, which could expand without end")

    def skipped(name: str, is_parameter: bool) -> None:
        if is_parameter:
            return
        if name not in name2codepoint:
            raise ValueError(f"the entity &{name}; is not known")
        handler.text(chr(name2codepoint[name]))

    parser.EntityDeclHandler = declared
    parser.SkippedEntityHandler = skipped
    try:
        for chunk in _chunks(path):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        raise ValueError(f"{path}, line {error.lineno}, column {error.offset}: {why}.") from error
    except ValueError as error:
        raise ValueError(f"{path}, line {parser.CurrentLineNumber}: {error}.") from error
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's, not the file's
        raise ValueError(
            f"{path}: the compressed file is broken or not all there ({error}), after line "
            f"{parser.CurrentLineNumber}. Download it again."
        ) from error


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as raw:
        magic = raw.read(6)
        raw.seek(0)
        if magic == SEVEN_ZIP:
            raise ValueError("it is a 7z archive, which has to be unpacked first")
        progress = ByteProgress(path.name, path.stat().st_size)
        try:
            with _unpacked(raw, magic) as file:
                while chunk := file.read(CHUNK):
                    yield chunk
                    progress.to(raw.tell())
        finally:
            progress.end()


@contextmanager
def _unpacked(raw: BinaryIO, magic: bytes) -> Iterator[BinaryIO]:
    for prefix, opened in _MAGIC.items():
        if magic.startswith(prefix):
            with opened(raw, "rb") as file:
                yield file
            return
    yield raw
