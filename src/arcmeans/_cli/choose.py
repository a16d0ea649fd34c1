"""``arcmeans choose-k``: the same rows for several k, measured."""

import csv
import math
from pathlib import Path
from typing import Any

import click

from .._analysis.k_path import KPath
from .._api.choose_k import METRICS
from .._api.choose_k import choose_k as choose_path
from .._report import write_choice
from .._run.records import Iteration
from . import options
from .console import Console, UserError
from .output import check_folder, new_folder
from .sources import open_source

FILES = frozenset(("choose-k.csv", "choose-k.html"))
MOST_STEPS = 20
"""Fits where --step is not given."""
BAR = 24
"""Characters of the longest bar."""


@click.command("choose-k")
@click.argument("source")
@click.option(
    "--from",
    "least",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    metavar="K",
    help="The smallest k.",
)
@click.option(
    "--to",
    "most",
    type=click.IntRange(1),
    default=40,
    show_default=True,
    metavar="K",
    help="The largest k.",
)
@click.option(
    "--step",
    type=click.IntRange(1),
    metavar="N",
    help="From one k to the next. [about 20 of them, wider as k grows]",
)
@click.option(
    "--by",
    type=click.Choice(tuple(METRICS)),
    default="simplified_silhouette",
    show_default=True,
    help="What chooses; larger is better.",
)
@click.option("--warm-start", is_flag=True, help="Begin each k with the centers of the one before.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write choose-k.csv and the plot, choose-k.html.",
)
@options.force
@options.reading
@options.words
@options.fitting
@options.manners
def choose_k(
    source: str,
    least: int,
    most: int,
    step: int | None,
    by: str,
    warm_start: bool,
    output: Path | None,
    force: bool,
    console: Console,
    **given: Any,
) -> int:
    """Cluster SOURCE for several k, and print a table to choose by.

    Larger is better, and no number chooses for you: look for a k from which on little is gained.
    SOURCE and the options of texts are those of "arcmeans cluster".

    \b
    Examples:
      arcmeans choose-k notes/ --from 2 --to 40
      arcmeans choose-k rows.npz --to 100 --step 10 --runs 3 -o choice
      arcmeans choose-k mails.csv --text body --by silhouette --json
    """
    if least > most:
        raise click.UsageError(f"--from {least} should be at most --to {most}.")
    if output is not None:
        check_folder(output, force, FILES)
    reading = options.text_options(given)
    new_vectorizer, pruning = options.word_options(given, reading.encoding)
    parameters = options.fit_options(given)
    rows = open_source(source, reading).read_all(console, new_vectorizer, pruning)
    if most > rows.X.shape[0]:
        raise UserError(
            f"--to {most}: more clusters than there are {rows.unit}, which is {rows.X.shape[0]:,}."
        )
    ks = numbers(least, most, step)
    metrics = (by, *(m for m in ("simplified_silhouette", "calinski_harabasz") if m != by))
    with console.stage("clustering", "k", len(ks)) as stage:
        runs = 0

        def show(step: Iteration) -> None:
            nonlocal runs
            runs += step.iteration == 1
            done = (runs - 1) // parameters["n_init"]
            stage.reach(done, f"k = {ks[done]}, iteration {step.iteration}")

        path = choose_path(
            rows.X, ks, metrics=metrics, warm_start=warm_start, callback=show, **parameters
        )
    if output is not None:
        with new_folder(output, force, FILES) as folder:
            write_table(folder / "choose-k.csv", path)
            write_choice(folder / "choose-k.html", path, source, rows)
    console.result(as_json(path, output), as_text(path, output))
    return 0


def numbers(least: int, most: int, step: int | None) -> list[int]:
    """The k to try. Without a step they lie closer where k is small: each about as much more."""
    if step is not None:
        return list(range(least, most + 1, step))
    if most - least < MOST_STEPS:
        return list(range(least, most + 1))
    ratio = (most / least) ** (1 / (MOST_STEPS - 1))
    return sorted({round(least * ratio**i) for i in range(MOST_STEPS)})


def write_table(path: Path, table: KPath) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.table.dtype.names or ())
        writer.writerows(map(_without_nan, table.table.tolist()))


def as_json(path: KPath, output: Path | None) -> dict[str, Any]:
    names = path.table.dtype.names or ()
    return {
        "by": path.metrics[0],
        "best": best(path),
        "table": [dict(zip(names, _without_nan(row), strict=True)) for row in path.table.tolist()],
        "output": None if output is None else str(output),
    }


def as_text(path: KPath, output: Path | None) -> str:
    """The table with a bar for what chooses, from zero, and the best k."""
    by = path.metrics[0]
    values = path.table[by].tolist()
    largest = max((v for v in values if v > 0), default=1.0)
    bars = ["█" * round(BAR * v / largest) if v > 0 else "" for v in values]
    heading, *lines = str(path).split("\n")
    shown = [f"{heading}  {by}", *(f"{line}  {bar}" for line, bar in zip(lines, bars, strict=True))]
    chosen = best(path)
    if chosen is not None:
        shown.append(f"largest {by}: k = {chosen}")
    if output is not None:
        shown.append(f"plot: {output / 'choose-k.html'}")
    return "\n".join(shown)


def best(path: KPath) -> int | None:
    """The best k; None where the measure is not defined for any."""
    try:
        return path.best()
    except ValueError:
        return None


def _without_nan(row: Any) -> list[Any]:
    return [None if isinstance(v, float) and not math.isfinite(v) else v for v in row]
