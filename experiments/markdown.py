"""Markdown tables."""

from collections.abc import Sequence


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table whose first column is aligned left and the others right, padded to be read as is."""
    lines = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    widths = [max(3, *map(len, column)) for column in zip(head, *lines, strict=True)]
    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    return "\n".join(_line(cells, widths) for cells in (head, rule, *lines))


def percents(values: Sequence[float | None]) -> list[str]:
    """Relative changes in percent with two decimals; the lowest in bold, –: none."""
    rounded = [None if value is None else round(100 * value, 2) for value in values]
    best = min((value for value in rounded if value is not None), default=None)
    return ["–" if value is None else _percent(value, value == best) for value in rounded]


def _percent(value: float, bold: bool) -> str:
    text = f"{value:+.2f}" if value else "0.00"
    return f"**{text}**" if bold else text


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cells[0].ljust(widths[0])]
    padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return f"| {' | '.join(padded)} |"
