"""Tasks on the workers of a Dask cluster, each on the owner of its partition.

The owner is the worker that Dask gave the rows of the partition to, unless that worker owns its
share already. It keeps the states of the partition (``_kept.py``), so the tasks run there and
nowhere else. If it goes, the partition gets another owner.
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

from . import _kept

WATCH_SECONDS = 0.5
"""Between two looks at whether there still are the workers that tasks were sent to."""
ATTEMPTS = 5
"""To get an answer from a cluster that loses workers or connections."""
NO_RESULT = ("cancelled", "lost")
"""The status of a task whose result Dask cannot give."""
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
        self.fit_id = f"0{uuid.uuid4().hex[:11]}"
        self.rows: list[Any] = []
        """The unit rows of each partition, on the workers; none before they are made."""
        self.owners: list[str] = []
        """The address of the owner of each partition."""
        self._counter = count()

    @abstractmethod
    def restore_rows(self) -> None:
        """Makes rows again that went with the connection."""

    def submit(
        self,
        number: int | None,
        function: Callable[..., Any],
        *arguments: Any,
        elsewhere: bool = False,
    ) -> Any:
        """A task, on the owner of the partition with this number; None: wherever Dask likes.

        With ``elsewhere`` Dask may run it on another worker, where it finds no state.
        """
        where: dict[str, Any] = {}
        if number is not None:
            where = {"workers": [self.owners[number]], "allow_other_workers": elsewhere}
        name = function.__name__.replace("_", "-")  # the dashboard shows the first words of a key
        key = f"arcmeans-{name}-{self.fit_id}-{next(self._counter)}"
        return self.client.submit(function, *arguments, key=key, pure=False, **where)

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
                    if task.status in NO_RESULT:
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

    def forget(self, *, only_run: bool) -> None:
        """Has the workers forget the fit, or only its run."""
        with suppress(Exception):  # a cluster that is gone has forgotten
            if self.client.status == "running":
                self.client.run(_kept.forget, self.fit_id, only_run, on_error="ignore")

    def find_owners(self, numbers: Sequence[int]) -> None:
        """An owner for each of these partitions whose owner is gone; see ``share_out``."""
        threads = self.client.nthreads()
        if threads:
            holders = self.client.who_has([self.rows[number] for number in numbers])
            having = {n: holders.get(self.rows[n].key, ()) for n in numbers}
            share_out(self.owners, having, threads)


def _sent(value: Any) -> Any:
    """A task whose result is a value that all workers are to have."""
    return value


def share_out(
    owners: list[str], having: Mapping[int, Sequence[str]], threads: Mapping[str, int]
) -> None:
    """Gives partitions whose owner is gone to workers that have their rows, up to a fair share.

    ``having`` are the workers that have the rows of each partition, ``threads`` the threads of each
    worker. Partitions that are left over go to the worker with the least to do, which has to fetch
    the rows.
    """
    share = len(owners) / sum(threads.values())
    load = {worker: owners.count(worker) for worker in threads}
    homeless = [number for number in having if owners[number] not in threads]
    for fair in (True, False):
        for number in homeless:
            if owners[number] in threads:
                continue
            able = [
                w for w in having[number] if w in load and load[w] < math.ceil(share * threads[w])
            ]
            if able or not fair:
                owners[number] = min(able or load, key=lambda w: load[w] / threads[w])
                load[owners[number]] += 1


def unstable(lost: Sequence[int]) -> ConnectionError:
    return ConnectionError(
        f"The state of {len(lost)} partitions was lost {ATTEMPTS} times over: workers of the Dask "
        "cluster go faster than their work can be done again. A checkpoint that was asked for is "
        "kept; fit goes on from it."
    )
