"""``arcmeans demo``: the demonstration, with a page to look at."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .._demo.demonstration import WritePage, main
from .._demo.docstrings import Docstring
from .._demo.tables import Effort
from .._report.results import Results, Times
from . import models
from .cluster import FILES, write
from .console import UserError
from .documents import snippet
from .output import check_folder
from .source_rows import SourceRows

DEFAULT = "arcmeans-demo"


@click.command(short_help="Cluster the docstrings of Python, and look at them.")
@click.option(
    "-k",
    "--clusters",
    type=click.IntRange(1),
    default=24,
    show_default=True,
    metavar="K",
    help="How many clusters.",
)
@click.option(
    "-o",
    "--output",
    default=DEFAULT,
    show_default=True,
    metavar="FOLDER",
    help="Where to write; what a demo wrote there before is replaced.",
)
def demo(clusters: int, output: str) -> int:
    """Cluster the docstrings of Python's standard library; nothing is downloaded.

    \b
    Examples:
      arcmeans demo
      arcmeans demo -k 12 -o /tmp/demo
    """
    return main(["--clusters", str(clusters), "--output", output], page_writer)


def page_writer(output: str) -> WritePage:
    """Checks that the folder can be written; the function returned writes it and says where."""
    try:
        check_folder(Path(output), True, FILES)
    except UserError as error:
        raise SystemExit(f"arcmeans.demo: {error}") from error
    except OSError as error:
        raise SystemExit(f"arcmeans.demo: {error.filename}: {error.strerror}") from error

    def write_page(
        X: Any, docstrings: Sequence[Docstring], terms: list[str], effort: Effort
    ) -> str:
        ids = [docstring.name for docstring in docstrings]
        rows = SourceRows(X, ids, [snippet(d.text) for d in docstrings], "documents")
        models.name_features(effort.model, None, terms)
        results = Results.of(
            "Docstrings of Python's standard library",
            rows,
            effort.model,
            Times(None, effort.seconds),
        )
        try:
            write(Path(output), True, rows, results)
        except OSError as error:
            raise SystemExit(f"arcmeans.demo: {error.filename}: {error.strerror}") from error
        return f"Report: {Path(output) / 'report.html'}"

    return write_page
