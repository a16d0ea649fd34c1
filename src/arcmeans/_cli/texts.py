"""Documents from folders, lines, JSON lines, CSV and Parquet, one after another.

Nothing is read ahead: a source of any length takes the memory of one document. What cannot be read
is noted with its file and line, and all of it listed together, so that one run shows it all; the
documents around it are used only where the user said ``--skip-errors``.
"""

import csv
import gzip
import importlib
import io
import json
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from .console import UserError

LISTED = 20
"""Problems named before the rest is only counted; without --skip-errors reading ends there."""
PARQUET_ROWS = 1024
"""Rows of a batch."""


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    """A path below the folder, a number of a line or record, or what ``--id`` names."""
    text: str


@dataclass(frozen=True)
class TextOptions:
    """How to read."""

    text: str | None = None
    """The column or key that holds the text."""
    id: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    skip_errors: bool = False


@dataclass
class Problems:
    """What could not be read."""

    skip: bool
    found: int = 0
    listed: list[str] = field(default_factory=list)

    def add(self, where: str, why: str) -> None:
        self.found += 1
        if len(self.listed) < LISTED:
            self.listed.append(f"{where}: {why}")
        if not self.skip and self.found >= LISTED:
            self.check(at_least=True)

    def check(self, at_least: bool = False) -> None:
        """An error unless all was read or what was not may be skipped."""
        if self.found and not self.skip:
            many = "could not be read; --skip-errors goes on without"
            count = f"{'at least ' if at_least else ''}{self.found}"
            what = f"1 place {many} it" if self.found == 1 else f"{count} places {many} them"
            raise UserError("\n  ".join([f"{what}:", *self.listed]))

    def summary(self) -> str:
        more = self.found - len(self.listed)
        lines = [f"{self.found} skipped:", *self.listed]
        return "\n  ".join(lines + ([f"and {more} more"] if more else []))


Advance = Callable[[float], None]
"""Told how far the reading has come, in the unit of the source."""


@dataclass
class TextSource:
    """Where documents come from."""

    name: str
    read: Callable[[Problems, Advance], Iterator[Document]]
    total: float | None
    """Bytes or files in all; None where nobody knows."""
    unit: str
    problems: Problems

    def documents(self, advance: Advance = lambda done: None) -> Iterator[Document]:
        """All documents; at their end an error if some could not be read."""
        for document in self.read(self.problems, advance):
            yield Document(clean(document.id), clean(document.text))
        self.problems.check()


def clean(text: str) -> str:
    """Text that UTF-8 can hold: half characters of JSON or of file names become visible."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()
    return text


def folder(path: Path, options: TextOptions) -> TextSource:
    """Every file below a folder is a document; what begins with a dot is left out."""
    problems = Problems(options.skip_errors)
    files: list[Path] = []

    def unreadable(error: OSError) -> None:
        problems.add(str(error.filename), str(error.strerror))

    for place, folders, names in os.walk(path, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += (Path(place, name) for name in sorted(names) if not name.startswith("."))
    if not files:
        problems.check()
        raise UserError(f"{path}: the folder holds no files (those that begin with a dot aside).")

    def read(problems: Problems, advance: Advance) -> Iterator[Document]:
        for done, file in enumerate(files):
            advance(done)
            try:
                with _opened(file) as opened:
                    text = _decoded(opened.read(), options.encoding)
            except (OSError, EOFError, zlib.error, _NotTextError) as error:
                problems.add(str(file), _reason(error))
                continue
            yield Document(str(file.relative_to(path)), text)

    return TextSource(str(path), read, len(files), "files", problems)


def lines(path: Path | None, options: TextOptions) -> TextSource:
    """Every line is a document; blank ones are left out. None: standard input."""

    def read(file: "_Lines") -> Iterator[Document]:
        for number, line in file:
            if line.strip():
                yield Document(str(number), line.rstrip("\r\n"))

    return _line_source(path, options, read)


def json_lines(path: Path, options: TextOptions) -> TextSource:
    """Every line is a JSON object with the text under a key, or a JSON string."""
    key = options.text or "text"

    def read(file: "_Lines") -> Iterator[Document]:
        for number, line in file:
            if not line.strip():
                continue
            try:
                value = json.loads(line.strip())
                record = {key: value} if isinstance(value, str) else value
                text = _text_of(record, key)
                name = str(number) if options.id is None else str(_value_of(record, options.id))
            except (ValueError, RecursionError) as error:
                file.problem(number, f"{error}")
                continue
            yield Document(name, text)

    return _line_source(path, options, read)


def table(path: Path, options: TextOptions, delimiter: str) -> TextSource:
    """Every record of a CSV file is a document; the first line names the columns."""

    def read(file: "_Lines") -> Iterator[Document]:
        csv.field_size_limit(2**31 - 1)
        separator = options.delimiter or delimiter
        records = csv.reader((line for _, line in file), delimiter=separator, strict=True)
        header = next(records, None)
        if header is None:
            raise UserError(
                f"{path}: the file is empty; a line with the names of columns is needed."
            )
        text = _column(str(path), header, options.text, _delimiter_hint(header))
        name = None if options.id is None else _column(str(path), header, options.id)
        number = 0
        while True:
            number += 1
            try:
                record = next(records)
            except StopIteration:
                return
            except csv.Error as error:
                file.problem(file.number, f"record {number} is not CSV ({error})")
                continue
            if not record:  # a blank line
                continue
            if len(record) != len(header):
                columns = f"{len(record)} fields, but the header has {len(header)}"
                file.problem(file.number, f"record {number} has {columns}")
                continue
            yield Document(str(number) if name is None else record[name], record[text])

    return _line_source(path, options, read)


def parquet(path: Path, options: TextOptions) -> TextSource:
    """Every row of a Parquet file is a document."""
    try:
        arrow = importlib.import_module("pyarrow")
        reader = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UserError(
            f"{path}: Parquet is read by pyarrow, which is not installed: "
            "pip install 'arcmeans[cli]'"
        ) from error
    with open(path, "rb"):  # a missing file, no permission: errors that name it
        pass
    try:
        with closing(reader.ParquetFile(path)) as file:
            names, rows = list(file.schema_arrow.names), file.metadata.num_rows
            kinds = {name: file.schema_arrow.field(name).type for name in names}
    except (arrow.ArrowException, OSError) as error:
        raise UserError(f"{path}: damaged, cut off, or not Parquet ({error})") from error
    strings = [name for name in names if _is_text(arrow.types, kinds[name])]
    default = options.text or (strings[0] if len(strings) == 1 else None)
    text = names[_column(str(path), names, default)]
    if text not in strings:
        raise UserError(f"{path}: column {text!r} holds {kinds[text]}, not text.")
    columns = [text] if options.id is None else [text, names[_column(str(path), names, options.id)]]

    def read(problems: Problems, advance: Advance) -> Iterator[Document]:
        number = 0
        try:
            with closing(reader.ParquetFile(path)) as file:
                for batch in file.iter_batches(batch_size=PARQUET_ROWS, columns=columns):
                    values = [batch.column(name).to_pylist() for name in columns]
                    for record in zip(*values, strict=True):
                        number += 1
                        name = str(number) if options.id is None else str(record[1])
                        yield Document(name, record[0] or "")
                    advance(number)
        except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: damaged after row {number} ({error})") from error

    return TextSource(str(path), read, rows, "rows", Problems(options.skip_errors))


def _is_text(types: Any, kind: Any) -> bool:
    """Whether a column of this type of Arrow's holds strings, as they are or as a dictionary."""
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


# --- Columns and keys.


def _column(name: str, columns: Sequence[str], wanted: str | None, hint: str = "") -> int:
    """Where a column is. The text is that named ``text``, or the only one, if nothing is said."""
    if wanted is None:
        if len(columns) == 1:
            return 0
        if "text" not in columns:
            raise UserError(
                f"{name}: which column holds the text? Say it by --text; there are "
                f"{_listed(columns)}.{hint}"
            )
        wanted = "text"
    if wanted not in columns:
        raise UserError(f"{name}: there is no column {wanted!r}, but {_listed(columns)}.{hint}")
    return list(columns).index(wanted)


def _listed(columns: Sequence[str]) -> str:
    shown = ", ".join(repr(column) for column in columns[:LISTED])
    return shown + (f" and {len(columns) - LISTED} more" if len(columns) > LISTED else "")


def _delimiter_hint(header: Sequence[str]) -> str:
    if len(header) != 1:
        return ""
    found = [mark for mark in ";\t|" if mark in header[0]]
    return f" Are they separated by {found[0]!r}? Say it by --delimiter." if found else ""


def _value_of(record: Any, key: str) -> Any:
    if not isinstance(record, dict):
        raise ValueError(f"a JSON {type(record).__name__}, not an object with the key {key!r}")
    if key not in record:
        raise ValueError(f"no key {key!r}, but {_listed(list(record))}")
    return record[key]


def _text_of(record: Any, key: str) -> str:
    value = _value_of(record, key)
    if not isinstance(value, str | None):
        raise ValueError(f"{key!r} is a JSON {type(value).__name__}, not a string")
    return value or ""


# --- Bytes to text.


class _NotTextError(Exception):
    """A file that is not what it should be; the message is for the user."""


def _reason(error: BaseException) -> str:
    if isinstance(error, _NotTextError):
        return str(error)
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        return f"the gzip data is damaged or cut off ({error})"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _opened(path: Path) -> BinaryIO:
    """A file, unpacked on the way if it is gzip's."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path)  # type: ignore[return-value]  # a BinaryIO in all but name
    return open(path, "rb")


def _check_start(raw: bytes) -> None:
    """Whether a file can begin so that is text in an encoding of single bytes for ASCII."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _NotTextError("begins with the mark of UTF-16: say --encoding utf-16")
    _check_bytes(raw)


def _check_bytes(raw: bytes) -> None:
    if b"\0" in raw:
        raise _NotTextError("holds a NUL byte: a binary file, not text")


def _decoded(raw: bytes, encoding: str) -> str:
    if _by_lines(encoding):
        _check_start(raw)
    try:
        return _without_mark(raw, encoding).decode(encoding)
    except UnicodeDecodeError as error:
        start = raw.rfind(b"\n", 0, error.start) + 1
        number = raw.count(b"\n", 0, error.start) + 1
        raise _NotTextError(f"line {number}: {_undecodable(error, error.start - start)}") from error


def _without_mark(raw: bytes, encoding: str) -> bytes:
    return raw.removeprefix(b"\xef\xbb\xbf") if encoding == "utf-8" else raw


def _undecodable(error: UnicodeDecodeError, at: int) -> str:
    byte = error.object[error.start]
    hint = "; --encoding names another" if error.encoding.replace("_", "-") == "utf-8" else ""
    return f"not {error.encoding} (byte 0x{byte:02x} after {at} bytes{hint})"


def _by_lines(encoding: str) -> bool:
    """Whether lines end in the byte of ASCII, so that they can be taken apart before decoding."""
    return "\n".encode(encoding) == b"\n"


class _Lines:
    """The lines of a file with their numbers, those left out that cannot be decoded."""

    def __init__(self, name: str, file: BinaryIO, options: TextOptions, problems: Problems) -> None:
        self.name, self.number = name, 0
        self._file, self._encoding, self._problems = file, options.encoding, problems

    def problem(self, number: int, why: str) -> None:
        self._problems.add(f"{self.name}, line {number}", why)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        if not _by_lines(self._encoding):
            yield from self._wide()
            return
        for raw in self._file:
            self.number += 1
            try:
                yield self.number, self._line(raw)
            except UnicodeDecodeError as error:
                self.problem(self.number, _undecodable(error, error.start))

    def _line(self, raw: bytes) -> str:
        """The next line. A binary file is no matter of one line more or less."""
        try:
            if self.number == 1:
                _check_start(raw)
                raw = _without_mark(raw, self._encoding)
            _check_bytes(raw)
        except _NotTextError as error:
            raise UserError(f"{self.name}, line {self.number}: {error}.") from error
        return raw.decode(self._encoding)

    def _wide(self) -> Iterator[tuple[int, str]]:
        """UTF-16 and the like: a stretch that cannot be decoded ends the reading."""
        text = io.TextIOWrapper(self._file, self._encoding, newline="")
        try:
            for line in text:
                self.number += 1
                yield self.number, line
        except UnicodeError as error:
            raise UserError(
                f"{self.name}: not {self._encoding} after line {self.number}"
            ) from error
        finally:
            text.detach()


def _line_source(
    path: Path | None, options: TextOptions, read: Callable[[_Lines], Iterator[Document]]
) -> TextSource:
    name = "standard input" if path is None else str(path)
    total = None
    if path is not None:
        with open(path, "rb") as file:  # a missing file, a folder: errors that name it
            total = os.fstat(file.fileno()).st_size or None

    def documents(problems: Problems, advance: Advance) -> Iterator[Document]:
        opened = sys.stdin.buffer if path is None else _opened(path)
        raw = getattr(opened, "fileobj", None) or opened
        try:
            for i, document in enumerate(read(_Lines(name, opened, options, problems))):
                if i % 64 == 0:
                    advance(i if total is None else raw.tell())
                yield document
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UserError(f"{name}: {_reason(error)}") from error
        finally:
            if path is not None:
                opened.close()

    problems = Problems(options.skip_errors)
    return TextSource(name, documents, total, "bytes" if total else "lines", problems)


def stop_word_file(path: Path, encoding: str) -> list[str]:
    """The words of a file, one a line or several."""
    try:
        with _opened(path) as file:
            return sorted(set(re.findall(r"\S+", _decoded(file.read(), encoding).lower())))
    except (EOFError, zlib.error, _NotTextError) as error:
        raise UserError(f"{path}: {_reason(error)}") from error
