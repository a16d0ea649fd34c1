"""``arcmeans predict``: labels of other rows, as they come."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from .._analysis.assignment import assign, part_size
from . import models, options
from .cluster import LABEL_COLUMNS, label_rows
from .console import Console, counted
from .output import check_file, new_file
from .sources import open_source


@click.command()
@click.argument("model")
@click.argument("source")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write. [standard output]",
)
@options.force
@options.reading
@click.option(
    "--threads",
    type=click.IntRange(1),
    metavar="N",
    help="Threads to use. [the processors there are]",
)
@options.manners
def predict(
    model: str,
    source: str,
    output: Path | None,
    force: bool,
    threads: int | None,
    console: Console,
    **given: Any,
) -> int:
    """Print the cluster of each row of SOURCE by MODEL, as CSV.

    MODEL is a model.safetensors, or the folder that "arcmeans cluster" wrote. SOURCE is anything
    that "arcmeans cluster" takes; texts are weighed by the words of the model. Rows are read and
    written as they come, so a source may be of any length.

    \b
    Examples:
      arcmeans predict topics new.csv --text body -o labels.csv
      arcmeans predict topics/model.safetensors rows.npz > labels.csv
      tail -n 100 log.txt | arcmeans predict topics - --json
    """
    reading = options.text_options(given)
    if output is not None:
        check_file(output, force)
    loaded = models.load(model)
    estimator = loaded.estimator.set_params(n_threads=threads)
    features = estimator.n_features_in_
    opened = open_source(source, reading, features, loaded.zero_based)
    done = without = 0
    with _writer(output, force, console.json) as write:
        size = part_size(estimator.n_clusters)
        for ids, X in opened.read_parts(console, loaded.vectorizer, size):
            assigned = assign(estimator, X)
            write(label_rows(range(done, done + X.shape[0]) if ids is None else ids, assigned))
            done += X.shape[0]
            without += int((assigned.labels < 0).sum())
    if without:
        console.warn(f"{without:,} of {done:,} rows have none of the model's terms: label −1.")
    console.say(counted(done, "rows") + ("" if output is None else f" in {output}"))
    return 0


@contextmanager
def _writer(output: Path | None, force: bool, as_json: bool) -> Iterator[Any]:
    """Where lines go: to a file that appears at the end, or to standard output at once."""
    if output is None:
        text = io.TextIOWrapper(sys.stdout.buffer, "utf-8", newline="")
        try:
            yield _lines_to(text, as_json)
            text.flush()
        finally:
            text.detach()
        return
    with new_file(output, force) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        yield _lines_to(text, as_json)
        text.flush()
        text.detach()


def _lines_to(text: io.TextIOWrapper, as_json: bool) -> Any:
    if as_json:

        def write_json(lines: Any) -> None:
            for line in lines:
                record = dict(zip(LABEL_COLUMNS, line, strict=True))
                text.write(json.dumps(record, ensure_ascii=False) + "\n")
            text.flush()

        return write_json
    writer = csv.writer(text, lineterminator="\n")
    heading = [LABEL_COLUMNS]

    def write_csv(lines: Any) -> None:
        writer.writerows(heading)
        heading.clear()
        writer.writerows(lines)
        text.flush()

    return write_csv
