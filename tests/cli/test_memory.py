"""``predict`` streams: memory does not grow with the source."""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from arcmeans._cli import main, predict

from ..support import processes
from ..support.cli_inputs import sentences
from ..support.marks import measures_memory

pytestmark = [
    processes.reads_proc,
    measures_memory,
]


def peak(*arguments: str) -> float:
    """Megabytes that a command takes at most."""
    ended = processes.run(print_peak, [*arguments, "-q", "--threads", "1"])
    assert ended.code == 0, ended.err
    return float(ended.err.split()[-1])


def print_peak(arguments: list[str]) -> None:
    predict.part_size = lambda k: 1000
    processes.forget_peak()
    code = main(arguments)
    print(processes.status_mb("VmHWM"), file=sys.stderr)
    sys.exit(code)


def test_predict_of_texts() -> None:
    lines = [f"{line} {'x' * 3200}\n" for line in sentences()]
    Path("few.txt").write_text("".join(lines * 25))
    Path("many.txt").write_text("".join(lines * 150))
    assert Path("many.txt").stat().st_size > 55e6
    assert main(["cluster", "few.txt", "-k", "4", "-o", "out", "-q"]) == 0
    few = peak("predict", "out", "few.txt", "-o", "few.csv")
    assert peak("predict", "out", "many.txt", "-o", "many.csv") < few + 15
    assert Path("many.csv").read_text().count("\n") == 18_001


def test_predict_of_a_sparse_matrix() -> None:
    X = sp.random(1000, 2000, 0.1, format="csr", random_state=0, dtype=np.float32)
    sp.save_npz("few.npz", sp.vstack([X] * 3, format="csr"), compressed=False)
    sp.save_npz("many.npz", sp.vstack([X] * 30, format="csr"), compressed=False)
    assert Path("many.npz").stat().st_size > 45e6
    assert main(["cluster", "few.npz", "-k", "3", "-o", "out", "-q", "--max-iter", "2"]) == 0
    few = peak("predict", "out", "few.npz", "-o", "few.csv")
    assert peak("predict", "out", "many.npz", "-o", "many.csv") < few + 15
    labels = [line.split(",")[1:] for line in Path("many.csv").read_text().splitlines()[1:]]
    assert labels == labels[:1000] * 30
