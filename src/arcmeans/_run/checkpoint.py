"""Checkpoints: a fit that was killed goes on where it was, and ends with the same bits.

Between two passes a run depends on two things only: the labels going into the next pass (rows that
were relocated included) and the integer vectors of the centers. A center either is the sum of its
rows, which follows from the labels exactly, or is detached: its rows sum to zero, and its vector is
what is left of a seed or of rows that went (``cpp/core/centers/centers.hpp``). So every vector is
placed, which detaches it, and then moved by the sums of all rows from no label to theirs: where
they sum to zero the vector stays, elsewhere it becomes the sum. The vectors stored are held against
the outcome.

Bounds are not kept. The first pass of a fresh engine labels each row by the reference similarity,
whatever the algorithm, and is then counted as the pass after the labels stored. Objective, changed
rows, relocation and movement follow from labels and integers; only the work to get there differs.
"""

import json
import os
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._centers.placing import place_sums, sums_of
from .._engines.protocol import PassEngine
from .._support.caution import caution
from .._support.files import written_whole
from .records import Result
from .saved import Midway, Saved, from_arrays, to_arrays

FORMAT = 1
"""Of the file. A file of another format is refused."""
_MARK = "arcmeans_checkpoint"


class Checkpoint:
    """A file that is replaced every so often while a fit goes, and removed at its end."""

    def __init__(
        self, path: str | os.PathLike[str], seconds: float, identity: Mapping[str, Any]
    ) -> None:
        self.path = Path(path)
        self.seconds = seconds
        self.identity = json.loads(json.dumps(identity))
        self.streams: NDArray[np.int64] = np.empty(0, np.int64)
        self.run = 0
        self.best: Result | None = None
        self._last = time.monotonic()
        if not self.path.parent.is_dir():
            raise ValueError(
                f"checkpoint={os.fspath(path)!r} should lie in a folder that exists; "
                f"{os.fspath(self.path.parent)!r} does not."
            )

    def due(self) -> bool:
        return time.monotonic() - self._last >= self.seconds

    def save(self, midway: Midway) -> None:
        """Replaces the file by one of this state. A disk that is full does not end the fit."""
        arrays = {
            _MARK: np.int64(FORMAT),
            "identity": np.array(json.dumps(self.identity)),
            "streams": self.streams,
            "run": np.int64(self.run),
            **to_arrays("", midway.labels, midway.centers, midway.iterations),
        }
        if self.best is not None:
            best = self.best
            arrays["best_stopped"] = np.array(best.stopped)
            arrays.update(to_arrays("best_", best.labels, best.centers, best.iterations))
        try:
            with written_whole(self.path, beside=self._temporary) as file:
                np.savez(file, **arrays)
        except OSError as error:
            caution(
                f"checkpoint={str(self.path)!r} could not be written ({error}); the fit goes on.",
            )
        self._last = time.monotonic()

    def load(self) -> Saved | None:
        """The fit on disk, if there is one; an error if it is not a state of this very fit."""
        if not self.path.exists():
            return None
        try:
            with open(self.path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
                stored = dict(file)
            if int(stored[_MARK]) != FORMAT:
                raise ValueError(f"format {int(stored[_MARK])}, not {FORMAT}")
            identity = json.loads(str(stored["identity"]))
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise self._unreadable(error) from error
        self._check_identity(identity)
        try:
            return from_arrays(stored, identity["n_clusters"], *identity["the shape of X"])
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self._unreadable(error) from error

    def remove(self) -> None:
        for path in (self.path, self._temporary):
            with suppress(OSError):
                path.unlink()

    @property
    def _temporary(self) -> Path:
        """In the same folder, so that it can take the file's place in one step."""
        return self.path.with_name(f".{self.path.name}.tmp")

    def _unreadable(self, error: Exception) -> ValueError:
        return ValueError(
            f"checkpoint={str(self.path)!r} is damaged or no checkpoint of this version of "
            f"arcmeans ({type(error).__name__}: {error}). Delete it to begin anew, or name another."
        )

    def _check_identity(self, stored: Mapping[str, Any]) -> None:
        mine = self.identity
        different = [
            f"{name} was {stored.get(name)!r}, is {mine.get(name)!r}"
            for name in [*mine, *(name for name in stored if name not in mine)]
            if stored.get(name) != mine.get(name)
        ]
        if different:
            raise ValueError(
                f"checkpoint={str(self.path)!r} belongs to another fit: {'; '.join(different)}. "
                "Delete it to begin anew, or name another."
            )


def restored(
    engine: PassEngine, midway: Midway, path: Path, *, in_full: bool
) -> _core.native.Centers:
    """The centers of a stored run, for a fresh engine whose next pass is a first one."""
    centers = place_sums(engine.census, midway.centers, in_full=in_full)
    engine.move(centers, engine.resume_after(midway.labels))
    mine, stored = sums_of(engine.census, centers).vectors, midway.centers.vectors
    for name in ("indptr", "indices", "data"):
        if not np.array_equal(getattr(mine, name), getattr(stored, name)):
            raise ValueError(
                f"checkpoint={str(path)!r} is damaged: its centers are not those of its labels. "
                "Delete it to begin anew, or name another."
            )
    return centers
