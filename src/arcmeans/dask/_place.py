"""The place of rows on a Dask cluster: steps of the seeding on partitions, and the engine."""

from collections.abc import Callable, Iterator, Sequence
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

    state_limit = None
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
        for number, (begin, end) in enumerate(pairwise(self.starts.tolist())):
            (rows,) = self._partitions.ask(lambda n=number: [self._partitions.rows[n]])  # type: ignore[misc]
            yield slice(begin, end), rows

    # --- Seeding.

    def each(self, step: Step[Answer]) -> list[Answer]:
        if step.begins_anew():
            self._log = []
        found = self._answers(step, range(len(self._partitions)))
        if step.changes_state:
            self._log.append(step)
        return found

    def at(self, number: int, step: Step[Answer]) -> Answer:
        return self._answers(step, [number])[0]

    def _answers(self, step: Step[Answer], asked: Sequence[int]) -> list[Answer]:
        """A step on some partitions; states that are lost are first made again from the log."""
        answers = dict(zip(asked, self._ask(seed_step, asked, len(self._log), step), strict=True))
        for _ in range(ATTEMPTS):
            lost = [number for number, answer in answers.items() if isinstance(answer, Lost)]
            if not lost:
                return list(answers.values())
            self._partitions.find_owners(lost)
            self._ask(replay, lost, self._log)
            again = self._ask(seed_step, lost, len(self._log), step)
            answers.update(zip(lost, again, strict=True))
        raise unstable(lost)

    def _ask(self, task: Callable[..., Any], numbers: Sequence[int], *arguments: Any) -> list[Any]:
        """The results of a task of the seeding on some partitions."""
        partitions, starts = self._partitions, self.starts

        def tasks() -> list[Any]:
            return [
                partitions.submit(
                    n, task, partitions.rows[n], partitions.fit_id, n, int(starts[n]), *arguments
                )
                for n in numbers
            ]

        return list(partitions.ask(tasks))

    def end_seeding(self) -> None:
        partitions = self._partitions
        numbers = range(len(partitions))
        partitions.ask(
            lambda: [partitions.submit(n, end_seeding, partitions.fit_id, n) for n in numbers]
        )
        self._log = []

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
