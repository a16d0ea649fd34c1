"""Markdown tables."""

from collections.abc import Callable, Sequence


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table whose first column is aligned left and the others right, padded to be read as is."""
    lines = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    widths = [max(3, *map(len, column)) for column in zip(head, *lines, strict=True)]
    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    return "\n".join(_line(cells, widths) for cells in (head, rule, *lines))


def percents(values: Sequence[float | None]) -> list[str]:
    """Relative changes in percent with two decimals; the lowest in bold, –: none."""
    rounded = [None if value is None else round(100 * value, 2) for value in values]
    return _marked(rounded, lambda value: f"{value:+.2f}" if value else "0.00")


def numbers(values: Sequence[float | None]) -> list[str]:
    """Amounts with three digits or all before the point; the lowest in bold, –: none."""
    rounded = [None if value is None else float(number(value).replace(",", "")) for value in values]
    return _marked(rounded, number)


def number(value: float) -> str:
    """0.0123, 1.23, 12.3, 123, 12,345."""
    if value >= 100 or value == 0:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".")


def beside(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Ours, with the paper's in parentheses where it has any."""
    if all(cell == "–" for cell in theirs):
        return list(ours)
    return [f"{one} ({other})" for one, other in zip(ours, theirs, strict=True)]


def _marked(values: Sequence[float | None], text: Callable[[float], str]) -> list[str]:
    best = min((value for value in values if value is not None), default=None)
    words = []
    for value in values:
        word = "–" if value is None else text(value)
        words.append(f"**{word}**" if value is not None and value == best else word)
    return words


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cells[0].ljust(widths[0])]
    padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return f"| {' | '.join(padded)} |"
