"""``arcmeans demo``: the demonstration, with a page to look at."""

from pathlib import Path

import click

from ..demo import main

DEFAULT = "arcmeans-demo"


@click.command()
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
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    metavar="FOLDER",
    help="Where to write; what a demo wrote there before is replaced.",
)
def demo(clusters: int, output: Path) -> int:
    """Cluster the docstrings of Python's standard library; nothing is downloaded.

    \b
    Examples:
      arcmeans demo
      arcmeans demo -k 12 -o /tmp/demo
    """
    return main(["--clusters", str(clusters), "--output", str(output)])
