"""Rows in blocks for Dask, and workers and schedulers in processes of their own, which tests kill.

The processes are forks of one process that has imported Dask once, and no thread of the tests.
"""

import asyncio
import itertools
import multiprocessing
import os
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import dask
from distributed import Scheduler, Worker


def blocks(X: Any, *ends: int) -> list[Any]:
    """X in delayed blocks."""
    places = [0, *ends, X.shape[0]]
    return [dask.delayed(X[a:b]) for a, b in itertools.pairwise(places)]


def start(function: Any, *arguments: str) -> BaseProcess:
    """``work`` or ``schedule`` in a process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "arcmeans.dask"])
    process = context.Process(target=_quietly, args=(function, *arguments), daemon=True)
    process.start()
    return process


def _quietly(function: Any, *arguments: str) -> None:
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    asyncio.run(function(*arguments))


async def work(scheduler: str, folder: str) -> None:
    """A worker of one thread, without a nanny: once killed it stays dead."""
    options: dict[str, Any] = {"nthreads": 1, "dashboard": False, "death_timeout": 150}
    async with Worker(scheduler, local_directory=folder, **options) as worker:
        await worker.finished()


async def schedule(file: str) -> None:
    """A scheduler that writes its address into a file once it is there."""
    async with Scheduler(port=0, dashboard=False, dashboard_address=":0") as scheduler:
        Path(file + "~").write_text(scheduler.address)
        os.rename(file + "~", file)
        await scheduler.finished()
