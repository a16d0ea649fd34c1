"""The place of rows on a Dask cluster: steps of the seeding on partitions, and the engine."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from .._algorithms.options import EngineOptions
from .._rows.rows import Rows
from .._seeding.steps import Answer, Step
from ._blocks import Blocks
from ._engine import DaskEngine, Traffic
from ._exchange import Lost
from ._partitions import Partitions
from ._seed_tasks import end_seeding, replay, seed_step
from ._tasks import ATTEMPTS, unstable


class DaskPlace:
    """Rows on the workers: the parts are partitions."""

    room = None
    in_this_process = False
    passes_here = False

    def __init__(self, client: Client, blocks: Blocks, sample_weight: Any) -> None:
        self._partitions = Partitions(client, blocks, sample_weight)
        self.census = self._partitions.census
        self.starts = self._partitions.starts
        self._log: list[Step[Any]] = []
        """The steps since the seeding began that changed the states of the partitions."""
        self.traffic: list[Traffic] = []
        """What the passes of the last engine sent."""

    def take(self, which: NDArray[np.int64]) -> Rows:
        return self._partitions.take(which)

    def pieces(self) -> Iterator[tuple[slice, Rows]]:
        for part, (begin, end) in enumerate(pairwise(self.starts.tolist())):
            (rows,) = self._partitions.ask(lambda part=part: [self._partitions.rows[part]])  # type: ignore[misc]
            yield slice(begin, end), rows

    # --- Seeding.

    def each(self, step: Step[Answer]) -> list[Answer]:
        if step.begins_anew():
            self._log = []
        found = self._answers(step, range(len(self._partitions)))
        if step.changes_state:
            self._log.append(step)
        return found

    def at(self, part: int, step: Step[Answer]) -> Answer:
        return self._answers(step, [part])[0]

    def _answers(self, step: Step[Answer], asked: Sequence[int]) -> list[Answer]:
        """A step on some partitions; where what it needs is lost, it is made again first."""
        partitions = self._partitions

        def tasks(parts: Sequence[int]) -> list[Any]:
            done = len(self._log)
            return [
                partitions.submit(p, seed_step, partitions.rows[p], *self._where(p), done, step)
                for p in parts
            ]

        answers = dict(zip(asked, partitions.ask(lambda: tasks(asked)), strict=True))
        for _ in range(ATTEMPTS):
            lost = [p for p, answer in answers.items() if isinstance(answer, Lost)]
            if not lost:
                return list(answers.values())
            partitions.find_owners(lost)
            self._replay(lost)
            again = partitions.ask(lambda lost=lost: tasks(lost))  # type: ignore[misc]
            answers.update(zip(lost, again, strict=True))
        raise unstable(lost)

    def _replay(self, lost: Sequence[int]) -> None:
        """Does all steps again on partitions whose states were lost."""
        partitions = self._partitions
        partitions.ask(
            lambda: [
                partitions.submit(p, replay, partitions.rows[p], *self._where(p), self._log)
                for p in lost
            ]
        )

    def end_seeding(self) -> None:
        partitions = self._partitions
        parts = range(len(partitions))
        partitions.ask(
            lambda: [partitions.submit(p, end_seeding, partitions.token, p) for p in parts]
        )
        self._log = []

    def _where(self, part: int) -> tuple[str, int, int]:
        return self._partitions.token, part, int(self.starts[part])

    # --- Passes.

    def engine(
        self, n_clusters: int, options: EngineOptions, *, seeded: bool = False
    ) -> DaskEngine:
        engine = DaskEngine(self._partitions, n_clusters, options)
        self.traffic = engine.traffic
        if seeded:
            engine.adopt()
        return engine

    def close(self) -> None:
        self._partitions.close()
