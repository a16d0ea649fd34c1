"""A demonstration that needs no download: the docstrings of Python's standard library, clustered.

``python -m arcmeans.demo`` weighs the words of the docstrings by TF-IDF, prints what the clusters
are about, and then shows what the algorithms are for: the same labels and centers, bit for bit,
from fewer similarities. With ``--output`` it ends by writing what ``arcmeans cluster`` writes, a
page to look at included; the page is written by a function that the caller gives.
"""

import argparse
import os
import platform
import shutil
import sys
import sysconfig
import textwrap
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .._algorithms.registry import ALGORITHMS
from .._api.kmeans import SphericalKMeans
from .docstrings import Docstring, each_once, read_library, weigh_words
from .tables import Effort, cluster_table, describe, effort_table

MIN_TERMS = 5
"""Docstrings with fewer telling words say too little to belong anywhere."""
ENOUGH = 100
"""Docstrings below which the document frequencies mean nothing."""

WritePage: TypeAlias = Callable[[Any, Sequence[Docstring], list[str], Effort], str]
"""Writes the page of a fit and says where it is. Gets rows, docstrings, terms and the fit."""
PageWriter: TypeAlias = Callable[[str], WritePage]
"""Checks, before any work, that a folder can be written."""


def timed_fit(X: Any, options: argparse.Namespace, algorithm: str) -> Effort:
    model = SphericalKMeans(
        n_clusters=options.clusters,
        algorithm=algorithm,
        n_threads=options.threads,
        random_state=options.seed,
    )
    started = time.perf_counter()
    model.fit(X)
    return Effort(algorithm, model, time.perf_counter() - started)


def same_bits(a: SphericalKMeans, b: SphericalKMeans) -> bool:
    """Whether labels and centers are equal, bit for bit."""
    return np.array_equal(a.labels_, b.labels_) and np.array_equal(
        a.cluster_centers_.view(np.uint32), b.cluster_centers_.view(np.uint32)
    )


def say(text: str, width: int) -> None:
    """Prints a paragraph at once, through pipes too, so that nobody is left wondering."""
    print(textwrap.fill(text, width, break_on_hyphens=False), flush=True)


def load(n_clusters: int, width: int) -> tuple[Any, list[Docstring], list[str]]:
    """TF-IDF of the docstrings worth clustering, the docstrings, and the terms."""
    say(f"Reading the standard library of Python {platform.python_version()} ...", width)
    root = Path(sysconfig.get_path("stdlib"))
    library = read_library(root)
    found = f"{len(library.docstrings):,} docstrings in {library.files:,} files"
    if library.unreadable:
        found += f" ({library.unreadable:,} of them unreadable, skipped)"
    docstrings = each_once(library.docstrings)
    if len(docstrings) < ENOUGH:
        raise SystemExit(
            f"arcmeans.demo: {found} under {root}; {ENOUGH} different ones are needed. Is the "
            "library there as source files?"
        )
    X, terms = weigh_words([docstring.text for docstring in docstrings])
    rows = np.flatnonzero(np.diff(X.indptr) >= MIN_TERMS)
    say(
        f"{found}; kept {len(rows):,} with {MIN_TERMS} telling words or more, each text once.",
        width,
    )
    if len(rows) < n_clusters:
        raise SystemExit(
            f"arcmeans.demo: --clusters={n_clusters} should be <= {len(rows)}, the number of "
            "docstrings kept."
        )
    return X[rows], [docstrings[i] for i in rows], terms


def show(options: argparse.Namespace, width: int, page_writer: PageWriter) -> int:
    """Reads, clusters, compares, and writes the page; 0 where all algorithms agree."""
    write_page = _tell_of_page if options.output is None else page_writer(options.output)
    X, docstrings, terms = load(options.clusters, width)
    say(
        f"Clustering {X.shape[0]:,} rows x {X.shape[1]:,} terms, {X.nnz / X.shape[0]:.0f} of them "
        f"in a row on average, into {options.clusters:,} clusters ...",
        width,
    )
    chosen = timed_fit(X, options, options.algorithm)
    iterations = chosen.model.n_iter_
    say(f"{iterations:,} iterations in {chosen.seconds:.2f} s.", width)
    print()
    names = [docstring.name for docstring in docstrings]
    print(cluster_table(describe(X, names, terms, chosen.model, options.top), width))
    print()
    say(f"The same by {', '.join(ALGORITHMS)} ...", width)
    efforts = [timed_fit(X, options, algorithm) for algorithm in ALGORITHMS]
    say(
        f"All similarities would be {X.shape[0]:,} rows x {options.clusters:,} centers x "
        f"{iterations:,} iterations = {X.shape[0] * options.clusters * iterations:,}.",
        width,
    )
    print()
    print(effort_table(efforts, width))
    print()
    status = verdict(chosen, efforts, width)
    print(write_page(X, docstrings, terms, chosen), flush=True)
    return status


def _tell_of_page(*_: Any) -> str:
    return "For a page: pip install 'arcmeans[cli]' && arcmeans demo"


def verdict(chosen: Effort, efforts: Sequence[Effort], width: int) -> int:
    """Says whether all results are the same, and returns the exit status for it."""
    different = [e.algorithm for e in efforts if not same_bits(chosen.model, e.model)]
    if different:
        say(
            f"ERROR: labels and centers of {', '.join(different)} differ from those of "
            f"{chosen.algorithm}; all should be equal bit for bit. Please report this.",
            width,
        )
        return 1
    say(f"Checked: labels and centers of all {len(efforts)} are equal bit for bit.", width)
    if max(effort.seconds for effort in efforts) < 1:
        say("A fit this small takes no time: the counts tell more than the clock.", width)
    return 0


def integer_from(least: int) -> Callable[[str], int]:
    """An argparse type: an integer >= ``least``, and small enough for a seed."""

    def integer(text: str) -> int:
        value = int(text)
        if not least <= value < 2**32:
            raise argparse.ArgumentTypeError(f"{value} should be >= {least} and < 2**32")
        return value

    return integer


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m arcmeans.demo",
        description="Cluster the docstrings of Python's standard library.",
    )
    add, positive = parser.add_argument, integer_from(1)
    add("-k", "--clusters", type=positive, default=24, metavar="K", help="how many (%(default)s)")
    add(
        "--algorithm",
        choices=("auto", *ALGORITHMS),
        default="auto",
        help="of the first fit (%(default)s)",
    )
    add("--threads", type=positive, metavar="N", help="threads of a fit (one a processor)")
    add(
        "--seed",
        type=integer_from(0),
        default=0,
        metavar="N",
        help="of the first centers (%(default)s)",
    )
    add("--top", type=positive, default=7, metavar="N", help="terms shown a cluster (%(default)s)")
    add(
        "-o",
        "--output",
        metavar="FOLDER",
        help="write a page there; what a demo wrote there before is replaced",
    )
    return parser.parse_args(argv)


def main(argv: list[str] | None, page_writer: PageWriter) -> int:
    """The demonstration; returns the exit code."""
    options = parse_arguments(argv)
    width = min(100, max(60, shutil.get_terminal_size((100, 24)).columns))
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Interrupted after")
            return show(options, width, page_writer)
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has seen enough. What is still buffered must not fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
