"""The algorithms by name: what each keeps, needs and is good for, and how it is made.

An algorithm labels every row with its most similar center. The algorithms differ in the
similarities they avoid and in what they keep of each row for that, never in a bit of the result.
Everything that depends on the algorithm is read from its record: the choices of ``algorithm=``, the
choice of ``"auto"``, the memory a fit needs, and the object that carries out the passes. Records
come from the core; one written in Python does as well (``registered``).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .arrays import Arrays
from .problem import Problem


class Algorithm(Protocol):
    """What an algorithm knows of one part of the rows, and its passes over that part."""

    def assign(
        self,
        rows: _core.native.Rows,
        centers: _core.native.Centers,
        labels: NDArray[np.int32],
        previous: NDArray[np.int32],
        *,
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


class StateArray(Protocol):
    """One array of the row state: numbers that an algorithm keeps of each row between passes."""

    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def columns(self) -> int:
        """Numbers for each row."""

    @property
    def initial(self) -> float | None:
        """What the array is filled with before the first pass; None: anything."""


class AlgorithmRecord(Protocol):
    """What there is to know of an algorithm before it is made, and how it is made."""

    @property
    def name(self) -> str: ...
    @property
    def keeps(self) -> str:
        """What it keeps between passes, in words."""

    @property
    def wins(self) -> str:
        """Where it wins, in words."""

    @property
    def takes_sparse(self) -> bool: ...
    @property
    def takes_dense(self) -> bool: ...
    @property
    def needs_row_state(self) -> bool:
        """False: it can do without, where there is no room for it."""

    @property
    def in_full(self) -> bool:
        """Whether it reads so many reference similarities that centers had better be in full."""

    @property
    def checks_memory(self) -> bool:
        """Whether a fit checks that there is room, since it grows with the clusters."""

    @property
    def largest_ball(self) -> float:
        """See ``auto.settled``; 0: "auto" does not look."""

    def row_state(self, problem: Problem) -> Sequence[StateArray]:
        """The arrays it keeps of each row."""

    def other_bytes(self, problem: Problem) -> int:
        """What it keeps of the centers and as copies of the rows."""

    def auto_takes(self, problem: Problem) -> tuple[int, int] | None:
        """The bytes of row state and of centers there has to be room for; None: not taken."""

    def make(self, problem: Problem, state: Sequence[NDArray[Any]]) -> Algorithm:
        """The algorithm for a part of the rows, with this row state."""


@dataclass(frozen=True)
class CoreRecord:
    """A record of the core: of the one in use, which tests exchange."""

    name: str

    @property
    def _record(self) -> _core.native.AlgorithmRecord:
        records = {record.name: record for record in _core.native.algorithm_records()}
        return records[self.name]

    @property
    def keeps(self) -> str:
        return self._record.keeps

    @property
    def wins(self) -> str:
        return self._record.wins

    @property
    def takes_sparse(self) -> bool:
        return self._record.takes_sparse

    @property
    def takes_dense(self) -> bool:
        return self._record.takes_dense

    @property
    def needs_row_state(self) -> bool:
        return self._record.needs_row_state

    @property
    def in_full(self) -> bool:
        return self._record.in_full

    @property
    def checks_memory(self) -> bool:
        return self._record.checks_memory

    @property
    def largest_ball(self) -> float:
        return self._record.largest_ball

    def row_state(self, problem: Problem) -> Sequence[StateArray]:
        return self._record.row_state(_native(problem))

    def other_bytes(self, problem: Problem) -> int:
        return self._record.other_bytes(_native(problem))

    def auto_takes(self, problem: Problem) -> tuple[int, int] | None:
        return self._record.auto_takes(_native(problem))

    def make(self, problem: Problem, state: Sequence[NDArray[Any]]) -> Algorithm:
        return self._record.make(_native(problem), list(state))


def _native(problem: Problem) -> _core.native.Problem:
    return _core.native.Problem(
        n_rows=problem.n_rows,
        n_features=problem.n_features,
        n_clusters=problem.n_clusters,
        sparse=problem.sparse,
        n_entries=problem.n_entries,
        n_shared=problem.n_shared,
        n_groups=problem.options.n_groups or 0,
        keep_bounds=problem.options.keep_bounds,
        hamerly_update=_core.native.HamerlyUpdate[problem.options.hamerly_update],
    )


ALGORITHMS: dict[str, AlgorithmRecord] = {
    record.name: CoreRecord(record.name) for record in _core.native.algorithm_records()
}
"""In the order of the documentation."""


@contextmanager
def registered(record: AlgorithmRecord) -> Iterator[None]:
    """One more algorithm, while the context lasts."""
    if record.name in ALGORITHMS:
        raise ValueError(f"There is an algorithm {record.name!r} already.")
    ALGORITHMS[record.name] = record
    try:
        yield
    finally:
        del ALGORITHMS[record.name]


def row_bytes(record: AlgorithmRecord, problem: Problem) -> int:
    """What the row state takes."""
    arrays = record.row_state(problem)
    return problem.n_rows * sum(a.columns * np.dtype(a.dtype).itemsize for a in arrays)


def make_algorithm(
    name: str, problem: Problem, arrays: Arrays
) -> tuple[Algorithm, dict[str, NDArray[Any]]]:
    """An algorithm for a part of the rows, and its row state by name, which lies in ``arrays``."""
    record = ALGORITHMS[name]
    state = {}
    for wanted in record.row_state(problem):
        shape = (problem.n_rows,) if wanted.columns == 1 else (problem.n_rows, wanted.columns)
        array = arrays(wanted.name, shape, np.dtype(wanted.dtype))
        if wanted.initial is not None:
            array[...] = wanted.initial
        state[wanted.name] = array
    return record.make(problem, list(state.values())), state
