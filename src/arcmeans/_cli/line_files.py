"""Documents from files that are read line by line: plain lines, JSON lines, CSV."""

import csv
import gzip
import io
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from .console import UserError
from .decoding import (
    NotTextError,
    by_lines,
    check_bytes,
    check_start,
    opened,
    reason,
    undecodable,
    without_mark,
)
from .documents import Advance, Document, Faults, TextOptions, TextSource, column, listed


def lines(path: Path | None, options: TextOptions) -> TextSource:
    """Every line is a document; blank ones are left out. None: standard input."""

    def read(file: "Lines") -> Iterator[Document]:
        for number, line in file:
            if line.strip():
                yield Document(str(number), line.rstrip("\r\n"))

    return _line_source(path, options, read)


def json_lines(path: Path, options: TextOptions) -> TextSource:
    """Every line is a JSON object with the text under a key, or a JSON string."""
    key = options.text or "text"

    def read(file: "Lines") -> Iterator[Document]:
        for number, line in file:
            if not line.strip():
                continue
            try:
                value = json.loads(line.strip())
                record = {key: value} if isinstance(value, str) else value
                text = _text_of(record, key)
                name = str(number) if options.id is None else str(_value_of(record, options.id))
            except (ValueError, RecursionError) as error:
                file.fault(number, f"{error}")
                continue
            yield Document(name, text)

    return _line_source(path, options, read)


def table(path: Path, options: TextOptions, delimiter: str) -> TextSource:
    """Every record of a CSV file is a document; the first line names the columns."""

    def read(file: "Lines") -> Iterator[Document]:
        csv.field_size_limit(2**31 - 1)
        separator = options.delimiter or delimiter
        records = csv.reader((line for _, line in file), delimiter=separator, strict=True)
        header = next(records, None)
        if header is None:
            raise UserError(
                f"{path}: the file is empty; a line with the names of columns is needed."
            )
        text = column(str(path), header, options.text, _delimiter_hint(header))
        name = None if options.id is None else column(str(path), header, options.id)
        number = 0
        while True:
            number += 1
            try:
                record = next(records)
            except StopIteration:
                return
            except csv.Error as error:
                file.fault(file.number, f"record {number} is not CSV ({error})")
                continue
            if not record:  # a blank line
                continue
            if len(record) != len(header):
                columns = f"{len(record)} fields, but the header has {len(header)}"
                file.fault(file.number, f"record {number} has {columns}")
                continue
            yield Document(str(number) if name is None else record[name], record[text])

    return _line_source(path, options, read)


def _delimiter_hint(header: Sequence[str]) -> str:
    if len(header) != 1:
        return ""
    found = [mark for mark in ";\t|" if mark in header[0]]
    return f" Are they separated by {found[0]!r}? Say it by --delimiter." if found else ""


def _value_of(record: Any, key: str) -> Any:
    if not isinstance(record, dict):
        raise ValueError(f"a JSON {type(record).__name__}, not an object with the key {key!r}")
    if key not in record:
        raise ValueError(f"no key {key!r}, but {listed(list(record))}")
    return record[key]


def _text_of(record: Any, key: str) -> str:
    value = _value_of(record, key)
    if not isinstance(value, str | None):
        raise ValueError(f"{key!r} is a JSON {type(value).__name__}, not a string")
    return value or ""


class Lines:
    """The lines of a file with their numbers; lines that cannot be decoded become faults."""

    def __init__(self, name: str, file: BinaryIO, options: TextOptions, faults: Faults) -> None:
        self.name, self.number = name, 0
        self._file, self._encoding, self._faults = file, options.encoding, faults

    def fault(self, number: int, why: str) -> None:
        self._faults.add(f"{self.name}, line {number}", why)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        if not by_lines(self._encoding):
            yield from self._wide()
            return
        for raw in self._file:
            self.number += 1
            try:
                yield self.number, self._line(raw)
            except UnicodeDecodeError as error:
                self.fault(self.number, undecodable(error, error.start))

    def _line(self, raw: bytes) -> str:
        """The text of a line. A binary file ends the reading, whatever lines there are in it."""
        try:
            if self.number == 1:
                check_start(raw)
                raw = without_mark(raw, self._encoding)
            check_bytes(raw)
        except NotTextError as error:
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
    path: Path | None, options: TextOptions, read: Callable[[Lines], Iterator[Document]]
) -> TextSource:
    name = "standard input" if path is None else str(path)
    total = None
    if path is not None:
        with open(path, "rb") as file:  # a missing file, a folder: errors that name it
            total = os.fstat(file.fileno()).st_size or None

    def documents(faults: Faults, advance: Advance) -> Iterator[Document]:
        file = sys.stdin.buffer if path is None else opened(path)
        raw = getattr(file, "fileobj", None) or file
        try:
            for i, document in enumerate(read(Lines(name, file, options, faults))):
                if i % 64 == 0:
                    advance(i if total is None else raw.tell())
                yield document
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UserError(f"{name}: {reason(error)}") from error
        finally:
            if path is not None:
                file.close()

    faults = Faults(options.skip_errors)
    return TextSource(name, documents, total, "bytes" if total else "lines", faults)
