"""The algorithms by name, and what an engine asks of one.

An algorithm labels every row with its most similar center. The algorithms differ in the
similarities they avoid and in what they keep of each row for that, never in a bit of the result.
An engine holds one ``Algorithm`` for each part of the rows and knows it by this protocol only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._rows.rows import Rows
from .angles import ANGLE_ALGORITHMS, AngleBounds
from .arrays import Arrays
from .cosines import CosineBounds
from .sieve import SieveBounds
from .tally import TallyBounds


class Algorithm(Protocol):
    """What an algorithm keeps of one part of the rows, and its passes over that part."""

    def assign(
        self,
        rows: _core.native.Rows,
        centers: _core.native.Centers,
        labels: NDArray[np.int32],
        previous: NDArray[np.int32],
        n_threads: int,
        chunk_rows: int,
    ) -> _core.native.Work:
        """One pass: overwrites ``labels``, and writes the labels before it to ``previous``.

        −1 labels a row without direction, and before the first pass every row. ``chunk_rows`` is
        how many rows a thread takes at a time; 0: as many as suit the algorithm.
        """

    def adopt(
        self, labels: NDArray[np.int32], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> None:
        """Begins with what the seeding learned of each row.

        ``lower`` is at most the row's cosine to the center of its label, ``upper`` at least its
        cosine to every other center.
        """

    def forget(self, rows: NDArray[np.int64]) -> None:
        """Drops the bounds of rows whose label did not come from a pass."""

    def release_rows(self) -> None:
        """Drops copies of the rows and references to them; the bounds stay."""


class AlgorithmOptions(Protocol):
    """The options of an engine that some algorithms read."""

    @property
    def keep_bounds(self) -> bool: ...
    @property
    def hamerly_update(self) -> str: ...
    @property
    def n_groups(self) -> int | None: ...


Shared = dict[str, Any]
"""What the algorithms of all parts of the rows share: what they know of the centers."""
Make = Callable[[Rows, int, AlgorithmOptions, Arrays, Shared], Algorithm]
"""From rows, number of clusters, options, and where the state of the rows lies."""


@dataclass(frozen=True)
class AlgorithmRecord:
    """An algorithm's name, and how it is made for a part of the rows."""

    name: str
    make: Make
    in_full: bool = True
    """Whether it reads so many reference similarities that centers had better be kept in full."""


def _with_cosines(name: str) -> AlgorithmRecord:
    return AlgorithmRecord(
        name,
        lambda rows, k, options, arrays, shared: CosineBounds(
            name, rows, k, options.hamerly_update, arrays
        ),
    )


def _with_angles(name: str) -> AlgorithmRecord:
    return AlgorithmRecord(
        name,
        lambda rows, k, options, arrays, shared: AngleBounds(
            name, rows, k, options.n_groups, arrays
        ),
    )


RECORDS: dict[str, AlgorithmRecord] = {
    record.name: record
    for record in (
        *map(_with_cosines, ("lloyd", "simplified-elkan", "elkan", "simplified-hamerly")),
        _with_cosines("hamerly"),
        *map(_with_angles, ANGLE_ALGORITHMS),
        AlgorithmRecord(
            "sieve",
            lambda rows, k, options, arrays, shared: SieveBounds(
                rows, k, options.keep_bounds, arrays
            ),
            in_full=False,
        ),
        AlgorithmRecord(
            "tally", lambda rows, k, options, arrays, shared: TallyBounds(rows, arrays)
        ),
    )
}
ALGORITHMS = tuple(RECORDS)
