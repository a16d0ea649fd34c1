"""Rows on the workers of a Dask cluster, and the steps of the seeding on them.

A partition belongs to a worker, the one that Dask gave its rows to unless that has more than its
share. The worker keeps what is known of the partition, and its tasks run there and nowhere else;
if it goes, they are sent to another. Dask keeps the rows, spills them where memory is short, and
makes them again where a worker is lost.
"""

import math
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed
from distributed import Client, get_client, wait
from distributed.comm import CommClosedError
from numpy.typing import NDArray

from .._engines.memory import EngineOptions
from .._rows.census import Census, Summary, census_of
from .._rows.containers import check_weight_range, checked_weights
from .._rows.rows import Rows, concatenated
from .._seeding.part import CHANGING
from . import _worker as worker
from ._blocks import Blocks
from ._worker import Lost

if TYPE_CHECKING:
    from ._engine import DaskEngine

WATCH_SECONDS = 0.5
"""Between two looks at whether there still are the workers that tasks were sent to."""
ATTEMPTS = 5
"""To get an answer from a cluster that loses workers or connections."""
LOST = ("cancelled", "lost")
GONE = (CancelledError, CommClosedError, TimeoutError, OSError)
"""What a client raises when work was lost with its worker or with the connection."""

_Answer = TypeVar("_Answer")


class OwnerGoneError(Exception):
    """A worker is gone that had partitions; they have others now."""


class _TaskError(Exception):
    """What a task raised."""


def connected() -> Client:
    """The current client, or one of a local cluster that is started and stays."""
    with suppress(ValueError):
        return get_client()
    return Client(threads_per_worker=1)


class DaskParts:
    """The rows of all partitions."""

    room = None
    census: Census
    starts: NDArray[np.int64]
    rows: list[Any]

    def __init__(self, client: Client, blocks: Blocks, sample_weight: Any) -> None:
        self.client = client
        self.token = f"0{uuid.uuid4().hex[:11]}"
        self.blocks = blocks
        self._numbers = count()
        self._weights = sample_weight
        self._blocks: list[Any] = []
        self.rows = []
        self._log: list[tuple[str, tuple[Any, ...]]] = []
        self.owners: list[str] = []
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self.blocks.blocks)

    # --- Tasks.

    def submit(
        self,
        part: int | None,
        step: Callable[..., Any],
        *arguments: Any,
        elsewhere: bool = False,
    ) -> Any:
        """A task, on the worker that has the partition; None: wherever Dask likes.

        With ``elsewhere`` Dask may move it: it then has to do without what that worker knows.
        """
        where: dict[str, Any] = {}
        if part is not None:
            where = {"workers": [self.owners[part]], "allow_other_workers": elsewhere}
        return self.client.submit(step, *arguments, key=self.key(step), pure=False, **where)

    def key(self, step: Callable[..., Any]) -> str:
        """A name for a task; the dashboard shows its first words."""
        name = step.__name__.replace("_", "-")
        return f"arcmeans-{name}-{self.token}-{next(self._numbers)}"

    def share(self, value: Any) -> Any:
        """A value that every worker gets once: a task of one, whose result the others fetch.

        Scattered data would be gone with the worker that has it, and a broadcast may hang if one
        goes meanwhile; a task is done again.
        """
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return self.submit(None, worker.send, value)

    def ask(self, tasks: Callable[[], _Answer]) -> Any:
        """The results of tasks, made again where they were lost with a worker or connection."""
        return self._tried(tasks, lambda found: self.client.gather(found))

    def ask_later(self, task: Callable[[], Any]) -> Any:
        """A task that is begun now and asked for later; None if there is no connection."""
        try:
            return task()
        except GONE:
            return None

    def settled(self, tasks: Callable[[], list[Any]]) -> list[Any]:
        """The tasks, done, with their results left where they are."""
        return list(self._tried(tasks, lambda found: found))

    def _tried(self, tasks: Callable[[], Any], finish: Callable[[Any], Any]) -> Any:
        attempt = 0
        while True:
            try:
                found = tasks()
                self._wait(found if isinstance(found, list) else [found])
                return finish(found)
            except OwnerGoneError:
                continue
            except _TaskError as error:  # of the task, not of the cluster
                raise error.args[0] from None
            except GONE as error:
                attempt += 1
                self._reconnect(error, attempt)

    def _wait(self, tasks: list[Any]) -> None:
        """Waits until tasks are done, or a worker that has partitions is gone."""
        while True:
            try:
                wait(tasks, timeout=WATCH_SECONDS)
                for task in tasks:
                    if task.status == "error":
                        raise _TaskError(task.exception())
                    if task.status in LOST:
                        task.result()  # raises
                return
            except TimeoutError:
                there = self.client.nthreads()
                if there and not set(self.owners) <= set(there):
                    self.find_owners(range(len(self)))
                    raise OwnerGoneError from None

    def _reconnect(self, error: BaseException, attempt: int) -> None:
        """Waits until there is a connection with workers behind it; an error if there is none."""
        timeout = float(getattr(self.client, "_timeout", None) or 30.0)
        deadline = time.monotonic() + timeout
        while attempt < ATTEMPTS and time.monotonic() < deadline:
            if self.client.status == "closed":
                break
            with suppress(*GONE):
                if self.client.status == "running" and self.client.nthreads():
                    self._restore_rows()
                    return
            time.sleep(0.1)
        raise ConnectionError(
            f"The Dask scheduler at {self._address()} has been out of reach, or without workers, "
            f"for {timeout:g} s ({type(error).__name__}). A checkpoint that was asked for is kept; "
            "fit goes on from it."
        ) from error

    def _address(self) -> str:
        scheduler = getattr(self.client, "scheduler", None)
        return str(getattr(scheduler, "address", None) or getattr(self.client, "_start_arg", "?"))

    def close(self) -> None:
        """Has the workers forget the fit."""
        self.rows = []
        self.forget(run=False)

    def forget(self, *, run: bool) -> None:
        """Has the workers forget the run, or the whole fit."""
        with suppress(Exception):  # a cluster that is gone has forgotten
            if self.client.status == "running":
                self.client.run(worker.forget, self.token, run, on_error="ignore")

    # --- Rows.

    def _prepare(self) -> None:
        """Each block is checked and summed up; then all are made ready by the census."""
        if not self.client.nthreads():
            self.client.wait_for_workers(1, timeout=30)
        shapes = self.ask(lambda: self._on_each(worker.shape_of, self._checked_blocks()))
        check_alike(shapes)
        sizes = [shape.n_rows for shape in shapes]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._weights = self._split(self._weights)

        def summaries() -> list[Any]:
            blocks = self._checked_blocks()
            return self._on_each(worker.summarize, blocks, self._checked_weights(blocks))

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
        if not self._blocks or any(block.status in LOST for block in self._blocks):
            loaded = self.client.compute(self.blocks.blocks)
            names = [f"block {i} of X" for i in range(len(self))]
            self._blocks = self._on_each(worker.checked_block, loaded, names)
        return self._blocks

    def _checked_weights(self, blocks: list[Any]) -> list[Any]:
        if self._weights[0] is None:
            return list(self._weights)
        weights = self._weights
        if isinstance(weights[0], Delayed):
            weights = self.client.compute(weights)
        return self._on_each(worker.weights_of, weights, blocks)

    def _make_rows(self) -> list[Any]:
        """The unit rows; kept by Dask from here on."""
        blocks = self._checked_blocks()
        self.shared_census = self.share(self.census)
        censuses = [self.shared_census] * len(self)
        self.rows = self._on_each(worker.prepare, blocks, self._checked_weights(blocks), censuses)
        return self.rows

    def _restore_rows(self) -> None:
        """Rows that went with the connection are made again, from the blocks."""
        if self.rows and (
            self.shared_census.status in LOST or any(rows.status in LOST for rows in self.rows)
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

    def _on_each(self, step: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """The tasks of a step on every partition, each with its own of the arguments."""
        return [self.submit(None, step, *mine) for mine in zip(*arguments, strict=True)]

    # --- Seeding.

    def take(self, which: NDArray[np.int64]) -> Rows:
        parts = np.searchsorted(self.starts, which, side="right") - 1
        asked = np.unique(parts)
        found = self._steps(
            {int(p): ("take", (which[parts == p],)) for p in asked},
        )
        order = np.argsort(parts, kind="stable")
        places = np.empty(len(which), np.int64)
        places[order] = np.arange(len(which))
        return concatenated(found).take(places)

    def each(self, step: str, *arguments: Any) -> list[Any]:
        if step == "begin":
            self._log = []
        found = self._steps(dict.fromkeys(range(len(self)), (step, arguments)))
        if step in CHANGING:
            self._log.append((step, arguments))
        if step == "end":
            self._log = []
        return found

    def at(self, part: int, step: str, *arguments: Any) -> Any:
        return self._steps({part: (step, arguments)})[0]

    def _steps(self, asked: dict[int, tuple[str, tuple[Any, ...]]]) -> list[Any]:
        """Steps on some partitions; where what they need is lost, it is made again first."""

        def tasks(parts: Sequence[int]) -> list[Any]:
            return [
                self.submit(
                    p, worker.seed_step, self.rows[p], *self._where(p), len(self._log), *asked[p]
                )
                for p in parts
            ]

        answers = dict(zip(asked, self.ask(lambda: tasks(list(asked))), strict=True))
        for _ in range(ATTEMPTS):
            lost = [p for p, answer in answers.items() if isinstance(answer, Lost)]
            if not lost:
                return list(answers.values())
            self.find_owners(lost)
            self.ask(
                lambda lost=lost: [  # type: ignore[misc]
                    self.submit(p, worker.replay, self.rows[p], *self._where(p), self._log)
                    for p in lost
                ]
            )
            again = self.ask(lambda lost=lost: tasks(lost))  # type: ignore[misc]
            answers.update(zip(lost, again, strict=True))
        raise unstable(lost)

    def _where(self, part: int) -> tuple[str, int, int]:
        return self.token, part, int(self.starts[part])

    def find_owners(self, parts: Sequence[int]) -> None:
        """A worker for each partition whose own is gone: one that has its rows and not too many."""
        threads = self.client.nthreads()
        if threads:
            holders = self.client.who_has([self.rows[p] for p in parts])
            having = {p: holders.get(self.rows[p].key, ()) for p in parts}
            share_out(self.owners, having, threads)

    def engine(
        self, n_clusters: int, options: EngineOptions, *, seeded: bool = False
    ) -> "DaskEngine":
        from ._engine import DaskEngine

        return DaskEngine(self, n_clusters, options, seeded)


def share_out(
    owners: list[str], having: Mapping[int, Sequence[str]], threads: Mapping[str, int]
) -> None:
    """Gives partitions without a worker to those that have them, up to a fair share of all.

    What is left over goes where there is least to do; its rows are fetched from elsewhere.
    """
    share = len(owners) / sum(threads.values())
    load = {w: owners.count(w) for w in threads}
    homeless = [p for p in having if owners[p] not in threads]
    for fair in (True, False):
        for p in homeless:
            if owners[p] in threads:
                continue
            able = [w for w in having[p] if w in load and load[w] < math.ceil(share * threads[w])]
            if able or not fair:
                owners[p] = min(able or load, key=lambda w: load[w] / threads[w])
                load[owners[p]] += 1


def unstable(lost: Sequence[int]) -> ConnectionError:
    return ConnectionError(
        f"The state of {len(lost)} partitions was lost {ATTEMPTS} times over: workers of the Dask "
        "cluster go faster than their work can be done again. A checkpoint that was asked for is "
        "kept; fit goes on from it."
    )


def check_alike(shapes: Sequence[worker.Shape]) -> None:
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
                f"block {i} of X is {shape.kind}, but block {first} is {shapes[first].kind}."
            )
