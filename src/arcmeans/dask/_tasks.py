"""Tasks on the workers of a Dask cluster, each on the worker that owns its partition.

A partition belongs to a worker, the one that Dask gave its rows to unless that has more than its
share. The worker keeps what is known of the partition, and its tasks run there and nowhere else;
if it goes, they are sent to another.
"""

import math
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from itertools import count
from typing import Any, TypeVar

import dask
from distributed import Client, get_client, wait
from distributed.comm import CommClosedError

from . import _resident

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


class Tasks(ABC):
    """The tasks of one fit."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.token = f"0{uuid.uuid4().hex[:11]}"
        self.rows: list[Any] = []
        """The unit rows of each partition, on the workers; none before they are made."""
        self.owners: list[str] = []
        """The worker of each partition."""
        self._numbers = count()

    @abstractmethod
    def restore_rows(self) -> None:
        """Makes rows again that went with the connection."""

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
            return self.submit(None, _sent, value)

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
                    self.find_owners(range(len(self.owners)))
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
                    self.restore_rows()
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

    def forget(self, *, run: bool) -> None:
        """Has the workers forget the run, or the whole fit."""
        with suppress(Exception):  # a cluster that is gone has forgotten
            if self.client.status == "running":
                self.client.run(_resident.forget, self.token, run, on_error="ignore")

    def find_owners(self, parts: Sequence[int]) -> None:
        """A worker for each partition whose own is gone: one that has its rows and not too many."""
        threads = self.client.nthreads()
        if threads:
            holders = self.client.who_has([self.rows[p] for p in parts])
            having = {p: holders.get(self.rows[p].key, ()) for p in parts}
            share_out(self.owners, having, threads)


def _sent(value: Any) -> Any:
    """A task whose result is a value that all workers are to have."""
    return value


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
