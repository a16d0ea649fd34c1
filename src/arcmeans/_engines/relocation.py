"""Which rows go to clusters that have lost all of theirs.

Each such cluster, in ascending order, takes the row least similar to its own center: rows of
different directions, never the last row of another cluster, and never a row that lies in the
direction of its center already, so that the objective rises each time and the run ends.

The rows may lie in parts. Each part makes an offer: its rows least similar to their own centers,
one of each direction. An offered row is refused if it is the last of its cluster: at most one row a
cluster. So one round of offers is enough, each of as many rows as there are clusters without rows
and clusters in all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._rows.rows import Rows


@dataclass(frozen=True)
class Offer:
    """Rows of a part that may go to clusters without any, the least similar first."""

    similarities: NDArray[np.float64]
    """To the own center."""
    rows: NDArray[np.int64]
    """Their numbers among the rows of all parts."""
    labels: NDArray[np.int32]
    directions: NDArray[np.uint64]


@dataclass(frozen=True)
class Relocation:
    """Rows that go to clusters without any."""

    rows: NDArray[np.int64]
    """Their numbers among the rows of all parts."""
    before: NDArray[np.int32]
    """The labels from the last pass."""
    labels: NDArray[np.int32]
    """The labels of the clusters they go to."""

    def relabel(self, labels: NDArray[np.int32], first_row: int) -> NDArray[np.int64]:
        """Writes the new labels to the labels of the part that begins at ``first_row``.

        Returns the rows of the part that moved, by their numbers in the part.
        """
        in_part = (self.rows >= first_row) & (self.rows < first_row + len(labels))
        moved = self.rows[in_part] - first_row
        labels[moved] = self.labels[in_part]
        return moved


def offer_of(
    rows: Rows,
    labels: NDArray[np.int32],
    centers: _core.native.Centers,
    count: int,
    first_row: int,
    n_threads: int,
) -> Offer:
    """The ``count`` rows least similar to their own centers, one of each direction."""
    similarities = np.empty(rows.n_rows)
    _core.native.own_similarities(rows.native(), centers, labels, n_threads, similarities)
    # The most a row's similarity to its own direction can fall short of 1 by rounding.
    margin = 1e-6 if rows.dtype == np.float32 else 1e-9
    far = rows.usable[similarities[rows.usable] < 1.0 - margin]
    far = far[np.argsort(similarities[far], kind="stable")]
    size = 2 * count
    while True:  # more and more of them, until enough directions are distinct
        directions = rows.hashes(far[:size])
        offered = np.sort(np.unique(directions, return_index=True)[1])[:count]
        if len(offered) == count or size >= len(far):
            break
        size *= 4
    which = far[offered]
    return Offer(similarities[which], which + first_row, labels[which], directions[offered])


def find_relocation(
    sizes: NDArray[np.int64], offers: Callable[[int], Sequence[Offer]]
) -> Relocation | None:
    """Rows for the clusters of size 0; None if there are no such clusters, or no rows for them.

    ``offers`` are those of all parts, each of at most as many rows as its argument says.
    """
    left, empty = sizes.copy(), np.flatnonzero(sizes == 0)
    if not len(empty):
        return None
    offered = offers(len(empty) + len(sizes))
    rows, labels, directions, similarities = (
        np.concatenate([getattr(offer, name) for offer in offered])
        for name in ("rows", "labels", "directions", "similarities")
    )
    taken: set[int] = set()
    moved: list[int] = []
    for i in np.lexsort((rows, similarities)):
        if len(moved) == len(empty):
            break
        direction = int(directions[i])
        if left[labels[i]] < 2 or direction in taken:
            continue
        taken.add(direction)
        left[labels[i]] -= 1
        moved.append(i)
    if not moved:
        return None
    which = np.array(moved, np.int64)
    return Relocation(rows[which], labels[which], empty[: len(moved)].astype(np.int32))
