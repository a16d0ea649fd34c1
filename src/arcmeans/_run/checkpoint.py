"""Checkpoints: a fit that was killed goes on where it was, and ends with the same bits.

``Watch`` saves the fit between two passes, and ``best_of_runs`` loads it. What a run does from
there on depends on two things only: the labels with which the next pass begins (after a
relocation), and the integer vectors of the centers. Bounds are not stored: the first pass of the
new engine compares every row, and ``resume_after`` has it count the changed rows from the stored
labels. So objective, changed rows, relocations and movement are the same; only the work is more.

The vector of a center is the sum of its rows, except where the center is detached.
``restored_centers`` first places each center at its stored vector, which detaches it. Then it moves
each center by the sum of the rows with its label. Where that sum is zero the core leaves the center
detached where it is; else the sum becomes the vector. If that is not the stored vector, centers and
labels of the file do not belong together.
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
from .identity import SHAPE
from .records import Result
from .saved import FitState, RunState, fit_state

FORMAT = 1
"""The number of the file format. A file of another format is refused; changed arrays raise it."""
_FORMAT_KEY = "arcmeans_checkpoint"


class Checkpoint:
    """A file that is replaced every so often while a fit goes, and removed at its end."""

    def __init__(
        self, path: str | os.PathLike[str], seconds: float, identity: Mapping[str, Any]
    ) -> None:
        """``identity`` is what the result depends on: see ``identity.py``."""
        self.path = Path(path)
        self.seconds = seconds
        self.identity = json.loads(json.dumps(identity))  # as it will be read back
        self.random_states: NDArray[np.int64] = np.empty(0, np.int64)
        """These three are as in ``FitState``; ``best_of_runs`` sets them."""
        self.run_number = 0
        self.best: Result | None = None
        self._saved_at = time.monotonic()
        if not self.path.parent.is_dir():
            raise ValueError(
                f"checkpoint={os.fspath(path)!r} should lie in a folder that exists; "
                f"{os.fspath(self.path.parent)!r} does not."
            )

    def due(self) -> bool:
        """Whether the last save is long enough ago."""
        return time.monotonic() - self._saved_at >= self.seconds

    def save(self, run: RunState) -> None:
        """Replaces the file, in one step. If that fails, as on a full disk, the fit goes on."""
        arrays = {
            _FORMAT_KEY: np.int64(FORMAT),
            "identity": np.array(json.dumps(self.identity)),
            **FitState(self.random_states, self.run_number, run, self.best).to_arrays(),
        }
        try:
            with written_whole(self.path, beside=self._temporary) as file:
                np.savez(file, **arrays)
        except OSError as error:
            caution(
                f"checkpoint={str(self.path)!r} could not be written ({error}); the fit goes on.",
            )
        self._saved_at = time.monotonic()

    def load(self) -> FitState | None:
        """The fit in the file, if there is one; an error if it is not a state of this very fit."""
        if not self.path.exists():
            return None
        try:
            with open(self.path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
                stored = dict(file)
            if int(stored[_FORMAT_KEY]) != FORMAT:
                raise ValueError(f"format {int(stored[_FORMAT_KEY])}, not {FORMAT}")
            identity = dict(json.loads(str(stored["identity"])))
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise self._unreadable(error) from error
        self._check_identity(identity)
        try:
            return fit_state(stored, identity["n_clusters"], *identity[SHAPE])
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self._unreadable(error) from error

    def remove(self) -> None:
        """The fit is done. What a killed fit left beside the file goes too."""
        for path in (self.path, self._temporary):
            with suppress(OSError):
                path.unlink()

    @property
    def _temporary(self) -> Path:
        """The new file while it is written: in the same folder, to be renamed in one step."""
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


def restored_centers(
    engine: PassEngine, run: RunState, path: Path, *, in_full: bool
) -> _core.native.Centers:
    """The centers of a run state, which the engine, before its first pass, is told to resume."""
    centers = place_sums(engine.census, run.centers, in_full=in_full)
    engine.move(centers, engine.resume_after(run.labels))
    found, stored = sums_of(engine.census, centers).vectors, run.centers.vectors
    for name in ("indptr", "indices", "data"):
        if not np.array_equal(getattr(found, name), getattr(stored, name)):
            raise ValueError(
                f"checkpoint={str(path)!r} is damaged: its centers are not those of its labels. "
                "Delete it to begin anew, or name another."
            )
    return centers
