"""Records, as a table on the screen and as a CSV file."""

import csv
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any


def show(records: Sequence[Any]) -> None:
    """Print records of one type, a line each."""
    lines = [[_text(value) for value in asdict(record).values()] for record in records]
    head = [name.replace("_", " ") for name in asdict(records[0])]
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    for line in [head, *lines]:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def write(records: Sequence[Any], path: Path) -> None:
    """Write records of one type to a CSV file, in full precision."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(asdict(records[0])))
        writer.writeheader()
        writer.writerows(asdict(record) for record in records)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
