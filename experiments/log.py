"""Records kept in a CSV file as they come, so that an interrupted experiment can go on.

A record is a frozen dataclass of str, int, float and ``float | None`` (an empty cell) fields. One
line is written for each, and flushed. A last line that was cut short is cut off when the file is
opened again, and its run is done again. One process at a time may have a file open.
"""

import csv
import fcntl
import io
from dataclasses import astuple, fields
from pathlib import Path
from types import UnionType
from typing import Any, Generic, Self, TypeVar

Record = TypeVar("Record")


class Log(Generic[Record]):
    """The records of one CSV file; use it as a context manager.

    Raises ValueError where the file has other columns, a line in its midst that is no record, or
    is in use.
    """

    def __init__(self, path: Path, record: type[Record]) -> None:
        self.path = path
        self.record = record
        self.columns = [field.name for field in fields(record)]  # type: ignore[arg-type]
        self.records: list[Record] = []

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("a", newline="", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            whole = self._read()
        except BaseException as error:
            self._file.close()
            if isinstance(error, BlockingIOError):
                raise ValueError(f"{self.path}: another experiment writes to it.") from None
            raise
        self._file.truncate(whole)
        if whole == 0:
            self._file.write(",".join(self.columns) + "\n")
            self._file.flush()
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, record: Record) -> None:
        """Keep a record, at once."""
        cells = astuple(record)  # type: ignore[call-overload]
        csv.writer(self._file, lineterminator="\n").writerow(cells)
        self._file.flush()
        self.records.append(record)

    def _read(self) -> int:
        """Take up the records of the file; how many bytes of it are whole lines."""
        head, *lines = self.path.read_bytes().splitlines(keepends=True) or [b""]
        if not head.endswith(b"\n"):
            if not ",".join(self.columns).encode().startswith(head):
                raise self._refusal(1, head)
            return 0
        if _cells(head) != self.columns:
            raise self._refusal(1, head)
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
        for number, line in enumerate(lines, 2):
            try:
                self.records.append(self._parsed(line))
            except ValueError:
                raise self._refusal(number, line) from None
        return len(head) + sum(map(len, lines))

    def _parsed(self, line: bytes) -> Record:
        values = [
            _value(cell, field.type)
            for cell, field in zip(_cells(line), fields(self.record), strict=True)  # type: ignore[arg-type]
        ]
        return self.record(*values)

    def _refusal(self, number: int, line: bytes) -> ValueError:
        return ValueError(
            f"{self.path}, line {number}: {line.decode(errors='replace').strip()!r} should have "
            f"the columns {','.join(self.columns)}. Move the file away or use another folder."
        )


def _cells(line: bytes) -> list[str]:
    return next(csv.reader(io.StringIO(line.decode())), [])


def _value(cell: str, kind: Any) -> Any:
    if isinstance(kind, UnionType):
        return float(cell) if cell else None
    return kind(cell)
