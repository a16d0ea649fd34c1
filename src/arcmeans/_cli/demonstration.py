"""A demonstration that needs no download: the docstrings of Python's standard library, clustered.

``python -m arcmeans.demo`` reads the library's source files (nothing of it is imported), weighs
the words by TF-IDF, prints what the clusters are about, and then shows what the algorithms are
for: the same labels and centers, bit for bit, from fewer similarities. With ``--output`` it ends by
writing what ``arcmeans cluster`` writes, a page to look at included (extra ``cli``).
"""

import argparse
import ast
import os
import platform
import shutil
import sys
import sysconfig
import textwrap
import time
import tokenize
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.preprocessing import normalize

from .._algorithms.registry import ALGORITHMS
from .._api.kmeans import SphericalKMeans

TEST_PACKAGES = {"test", "tests", "idle_test"}
MIN_TERMS = 5
"""Docstrings with fewer telling words say too little to belong anywhere."""
ENOUGH = 100
"""Docstrings below which the document frequencies mean nothing."""
TYPICAL = 3
"""Entries named for each cluster."""
TOKEN = r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9_]*[A-Za-z0-9]"
"""Words and identifiers; ``__init__`` counts as ``init``."""
DOCSTRING_WORDS = """
    accept accepts allow allowed allows apply arg args argument arguments available bool boolean
    call callable called calling calls case class classes contain containing contains
    corresponding create created creates creating current currently default defaults defined
    deprecated does doesn don ensure equal equivalent example existing exists expected false
    following form func function functions gets given gives handle helper ignored implement
    implementation implemented implements indicate indicates init instance instances instead int
    internal isn keyword kwargs kwds like list make makes means method methods necessary need
    needed needs new non note number obj object objects optional optionally original override
    parameter parameters pass passed perform performed performs possible present provide provided
    provides raise raised raises raising replace represent representation representing represents
    require required requires result results return returned returning returns self set sets
    setting similar simple simply single specific specified specifies specify str string strings
    subclass subclasses support supported supports sure true try tuple type types usage use used
    useful user uses using usually valid value values various want way work works
"""
"""What docstrings say whatever they are about."""

Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Docstring:
    name: str
    """As one would import it: ``json.decoder.JSONDecoder.decode``."""
    text: str


@dataclass(frozen=True, slots=True)
class Library:
    """What the source files hold."""

    docstrings: list[Docstring]
    files: int
    """Source files found."""
    unreadable: int
    """Those of them that could not be read or parsed."""


@dataclass(frozen=True, slots=True)
class Cluster:
    size: int
    cohesion: float
    """Mean cosine of its rows to the center; NaN where it has no rows."""
    terms: list[str]
    """Largest weight in the center first."""
    typical: list[str]
    """Names of the rows most similar to the center, nearest first."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What an algorithm did to come to its result."""

    algorithm: str
    model: SphericalKMeans
    seconds: float

    @property
    def similarities(self) -> int:
        return int(self.model.trace_["similarities"].sum())

    @property
    def center_similarities(self) -> int:
        return int(self.model.trace_["center_similarities"].sum())

    @property
    def share(self) -> float:
        """Of the similarities of every row with a direction to every center in every iteration."""
        rows = int(np.count_nonzero(self.model.labels_ >= 0))
        return self.similarities / (rows * self.model.n_clusters * self.model.n_iter_)


def read_library(root: Path) -> Library:
    """The docstrings of every module under ``root``, tests and installed packages left out."""
    docstrings: list[Docstring] = []
    files = unreadable = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of invalid escapes and the like in the files parsed
        for path in source_files(root):
            files += 1
            try:
                with tokenize.open(path) as source:
                    tree = ast.parse(source.read())
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                unreadable += 1
                continue
            docstrings.extend(docstrings_of(tree, module_name(path, root)))
    return Library(docstrings, files, unreadable)


def source_files(root: Path) -> Iterator[Path]:
    """Files of importable modules: ``site-packages`` is no identifier, thus no package."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f.isidentifier() and f not in TEST_PACKAGES)
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(".py"))


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def docstrings_of(tree: ast.Module, module: str) -> Iterator[Docstring]:
    """The docstrings of a module and of all classes and functions in it, in the file's order."""
    left: list[tuple[ast.AST, str]] = [(tree, module)]
    while left:
        node, scope = left.pop()
        if isinstance(node, Scope):
            if not isinstance(node, ast.Module):
                scope = f"{scope}.{node.name}"
            text = ast.get_docstring(node)
            if text:
                yield Docstring(scope, text)
        inner = [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.expr)]
        left.extend((n, scope) for n in reversed(inner))


def each_once(docstrings: Sequence[Docstring]) -> list[Docstring]:
    """The first of those that differ in nothing but white space."""
    first: dict[str, Docstring] = {}
    for docstring in docstrings:
        first.setdefault(" ".join(docstring.text.split()), docstring)
    return list(first.values())


def weigh_words(texts: Sequence[str]) -> tuple[Any, list[str]]:
    """TF-IDF as CSR in float32, and the term of each column."""
    vectorizer = TfidfVectorizer(
        stop_words=sorted(ENGLISH_STOP_WORDS.union(DOCSTRING_WORDS.split())),
        token_pattern=TOKEN,
        sublinear_tf=True,
        min_df=3,
        dtype=np.float32,
    )
    return vectorizer.fit_transform(texts), vectorizer.get_feature_names_out().tolist()


def describe(
    X: Any, names: Sequence[str], terms: Sequence[str], model: SphericalKMeans, top: int
) -> list[Cluster]:
    """What each cluster is about, the largest first."""
    X = normalize(X)
    clusters = []
    for j, center in enumerate(model.cluster_centers_):
        members = np.flatnonzero(model.labels_ == j)
        cosines = X[members] @ center
        nearest = members[np.argsort(-cosines, kind="stable")[:TYPICAL]]
        heaviest = np.argsort(-center, kind="stable")[:top]
        clusters.append(
            Cluster(
                size=len(members),
                cohesion=float(cosines.mean()) if len(members) else float("nan"),
                terms=[terms[f] for f in heaviest if center[f] > 0],
                typical=[names[i] for i in nearest],
            )
        )
    return sorted(clusters, key=lambda cluster: -cluster.size)


def cluster_table(clusters: Sequence[Cluster], width: int) -> str:
    """A line of terms and a line of entries for each cluster, wrapped to ``width``."""
    heading = " size  cohesion  top terms, and the most typical entries"
    lines = [heading, "-" * width]
    for cluster in clusters:
        cohesion = f"{cluster.cohesion:.2f}" if cluster.size else "-"
        start = f"{cluster.size:>5,}  {cohesion:>8}  "
        lines += _wrapped(cluster.terms, width, start, " " * len(start)) or [start.rstrip()]
        indent = " " * (len(start) + 2)
        lines += _wrapped(cluster.typical, width, indent, indent)
    return "\n".join(lines)


def _wrapped(items: Sequence[str], width: int, first: str, later: str) -> list[str]:
    room = width - len(later) - 1
    whole = [item if len(item) <= room else item[: room - 3] + "..." for item in items]
    return textwrap.wrap(
        ", ".join(whole),
        width,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def effort_table(efforts: Sequence[Effort], width: int) -> str:
    """A line for each algorithm; short headings where the long ones would not fit."""
    cells = [
        (
            effort.algorithm,
            f"{effort.model.n_iter_:,}",
            f"{effort.similarities:,}",
            f"{effort.share:.1%}",
            f"{effort.center_similarities:,}",
            f"{effort.seconds:.3f}",
        )
        for effort in efforts
    ]
    long = ("algorithm", "iterations", "similarities", "share", "center similarities", "seconds")
    short = ("algorithm", "iter.", "simil.", "share", "centers", "sec.")
    table = _aligned([long, *cells])
    return table if table.index("\n") <= width else _aligned([short, *cells])


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns under the first row: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


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


def show(options: argparse.Namespace, width: int) -> int:
    """Reads, clusters, compares, and writes the page; 0 where all algorithms agree."""
    write_page = page_writer(options.output)
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


def page_writer(output: str | None) -> Callable[..., str]:
    """Writes the page and tells where it is; known to be able to before any work is done."""
    if output is None:
        return lambda *_: "For a page: pip install 'arcmeans[cli]' && arcmeans demo"
    try:
        from .demo import prepared
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"arcmeans.demo: --output={output!r} needs {error.name}, which is not installed: "
            "pip install 'arcmeans[cli]'"
        ) from error
    return prepared(output)


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


def main(argv: list[str] | None = None) -> int:
    options = parse_arguments(argv)
    width = min(100, max(60, shutil.get_terminal_size((100, 24)).columns))
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Interrupted after")
            return show(options, width)
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has seen enough. What is still buffered must not fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
