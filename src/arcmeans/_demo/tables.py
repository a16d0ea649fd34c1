"""What the demonstration prints: the clusters, and what each algorithm did to find them."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from .._api.kmeans import SphericalKMeans

TYPICAL = 3
"""Entries named for each cluster."""


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
