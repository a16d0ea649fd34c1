"""The partitions of a fit: rows on the workers of a Dask cluster.

Dask keeps the rows, spills them where memory is short, and makes them again where a worker is lost.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import Delayed
from distributed import Client
from numpy.typing import NDArray

from .._rows.blocks import (
    BlockShape,
    block_weights,
    checked_block,
    prepare,
    shape_of,
    summarize,
)
from .._rows.census import Census, Summary, census_of
from .._rows.containers import check_weight_range, checked_weights
from .._rows.rows import Rows, concatenated
from ._blocks import Blocks
from ._tasks import NO_RESULT, Tasks


class Partitions(Tasks):
    """The rows of all partitions."""

    census: Census
    starts: NDArray[np.int64]
    shared_census: Any

    def __init__(self, client: Client, blocks: Blocks, sample_weight: Any) -> None:
        super().__init__(client)
        self.blocks = blocks
        self._weights = sample_weight
        self._blocks: list[Any] = []
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self.blocks.blocks)

    def close(self) -> None:
        """Has the workers forget the fit."""
        self.rows = []
        self.forget(only_run=False)

    def take(self, which: NDArray[np.int64]) -> Rows:
        """Some rows, in this order."""
        numbers = np.searchsorted(self.starts, which, side="right") - 1
        asked = {n: which[numbers == n] - self.starts[n] for n in np.unique(numbers).tolist()}
        found: list[Rows] = self.ask(
            lambda: [self.submit(n, Rows.take, self.rows[n], rows) for n, rows in asked.items()]
        )
        # ``found`` goes by partitions; back to the order of ``which``.
        position = np.empty(len(which), np.int64)
        position[np.argsort(numbers, kind="stable")] = np.arange(len(which))
        return concatenated(found).take(position)

    def _prepare(self) -> None:
        """Each block is checked and summed up; then all are made ready by the census."""
        if not self.client.nthreads():
            self.client.wait_for_workers(1, timeout=30)
        shapes = self.ask(lambda: self._on_each(shape_of, self._checked_blocks()))
        check_alike(shapes)
        sizes = [shape.n_rows for shape in shapes]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._weights = self._split(self._weights)

        def summaries() -> list[Any]:
            blocks = self._checked_blocks()
            return self._on_each(summarize, blocks, self._checked_weights(blocks))

        found: list[Summary] = self.ask(summaries)
        if self._weights[0] is not None:
            total = sum((part.weights.total for part in found), Fraction(0))
            check_weight_range(max(part.weights.largest for part in found), float(total))
        self.census = census_of([part for part in found if part.n_rows] or found)
        self.settled(self._make_rows)
        self._blocks = []
        self.owners = [""] * len(self)
        self.find_owners(range(len(self)))

    def _checked_blocks(self) -> list[Any]:
        """The blocks, checked, on their workers; made once, and again where they are gone."""
        if not self._blocks or any(block.status in NO_RESULT for block in self._blocks):
            loaded = self.client.compute(self.blocks.blocks)
            names = [f"block {i} of X" for i in range(len(self))]
            self._blocks = self._on_each(checked_block, loaded, names)
        return self._blocks

    def _checked_weights(self, blocks: list[Any]) -> list[Any]:
        if self._weights[0] is None:
            return list(self._weights)
        weights = self._weights
        if isinstance(weights[0], Delayed):
            weights = self.client.compute(weights)
        return self._on_each(block_weights, weights, blocks)

    def _make_rows(self) -> list[Any]:
        """The unit rows; kept by Dask from here on."""
        blocks = self._checked_blocks()
        self.shared_census = self.share(self.census)
        censuses = [self.shared_census] * len(self)
        self.rows = self._on_each(prepare, blocks, self._checked_weights(blocks), censuses)
        return self.rows

    def restore_rows(self) -> None:
        """Rows that went with the connection are made again, from the blocks."""
        if self.rows and (
            self.shared_census.status in NO_RESULT
            or any(rows.status in NO_RESULT for rows in self.rows)
        ):
            self._make_rows()
            self._blocks = []

    def _split(self, weights: Any) -> list[Any]:
        """The weights of each partition."""
        if weights is None:
            return [None] * len(self)
        if isinstance(weights, da.Array):
            if weights.ndim != 1 or weights.numblocks[0] != len(self):
                raise ValueError(
                    f"sample_weight is a dask array of {weights.numblocks} blocks; it should have "
                    f"one dimension and the {len(self)} blocks of rows that X has."
                )
            return list(weights.to_delayed())
        checked = checked_weights(weights, int(self.starts[-1]))
        assert checked is not None
        return list(np.split(checked, self.starts[1:-1]))

    def _on_each(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """A task for every partition, each with its own of the arguments, wherever Dask likes."""
        return [self.submit(None, function, *mine) for mine in zip(*arguments, strict=True)]


def check_alike(shapes: Sequence[BlockShape]) -> None:
    """All blocks have the same features; those with rows, the same kind and dtype."""
    if not any(shape.n_rows for shape in shapes):
        raise ValueError("X has no rows; it should have at least one.")
    first = next(i for i, shape in enumerate(shapes) if shape.n_rows)
    for i, shape in enumerate(shapes):
        if shape.n_features != shapes[first].n_features:
            raise ValueError(
                f"block {i} of X has {shape.n_features} features, but block {first} has "
                f"{shapes[first].n_features}."
            )
        if shape.n_rows and (shape.sparse, shape.dtype) != (
            shapes[first].sparse,
            shapes[first].dtype,
        ):
            raise ValueError(
                f"block {i} of X is {shape.kind} of {shape.dtype}, but block {first} is "
                f"{shapes[first].kind} of {shapes[first].dtype}."
            )
