"""Which rows go to clusters that have lost all of theirs.

Each such cluster, in ascending order, takes the row least similar to its own center: rows of
different directions, never the last row of another cluster, and never a row that lies in the
direction of its center already, so that the objective rises each time and the run ends.

The rows may lie in parts. A part names the rows it has to offer, the least similar first, one of
each direction. A row is passed over only because it is the last of its cluster, which is at most
one row a cluster: as many as there are clusters more than are wanted, and no part need be asked
twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._rows.rows import Rows


@dataclass(frozen=True)
class Candidates:
    """Rows that a part has to offer."""

    similarities: NDArray[np.float64]
    """To the own center."""
    rows: NDArray[np.int64]
    """Their numbers among the rows of all parts."""
    labels: NDArray[np.int32]
    directions: NDArray[np.uint64]


def candidates_of(
    rows: Rows,
    labels: NDArray[np.int32],
    centers: _core.native.Centers,
    count: int,
    first: int,
    n_threads: int,
) -> Candidates:
    """The ``count`` rows least similar to their own centers, one of each direction."""
    similarities = np.empty(rows.n_rows)
    _core.native.own_similarities(rows.native(), centers, labels, n_threads, similarities)
    # The most a row's similarity to its own direction can fall short of 1 by rounding.
    margin = 1e-6 if rows.dtype == np.float32 else 1e-9
    found = rows.usable[similarities[rows.usable] < 1.0 - margin]
    found = found[np.argsort(similarities[found], kind="stable")]
    taken = 2 * count
    while True:  # more and more of them, until enough are distinct
        some = found[:taken]
        directions = rows.hashes(some)
        at = np.sort(np.unique(directions, return_index=True)[1])[:count]
        if len(at) == count or taken >= len(found):
            break
        taken *= 4
    some = some[at]
    return Candidates(similarities[some], some + first, labels[some], directions[at])


def chosen(
    sizes: NDArray[np.int64], offered: Sequence[Candidates]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The rows to move and their new labels; ``sizes`` are those of the clusters."""
    sizes, empty = sizes.copy(), np.flatnonzero(sizes == 0)
    rows, labels, directions, similarities = (
        np.concatenate([getattr(part, name) for part in offered])
        for name in ("rows", "labels", "directions", "similarities")
    )
    taken: set[int] = set()
    moved: list[int] = []
    for at in np.lexsort((rows, similarities)):
        if len(moved) == len(empty):
            break
        direction = int(directions[at])
        if sizes[labels[at]] < 2 or direction in taken:
            continue
        taken.add(direction)
        sizes[labels[at]] -= 1
        moved.append(int(rows[at]))
    return np.array(moved, np.int64), empty[: len(moved)].astype(np.int32)


def relabel(
    labels: NDArray[np.int32], first: int, rows: NDArray[np.int64], given: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Gives rows the labels chosen for them, where they are of the part that begins at ``first``.

    Returns the places of these rows in the part.
    """
    mine = (rows >= first) & (rows < first + len(labels))
    here = rows[mine] - first
    labels[here] = given[mine]
    return here
