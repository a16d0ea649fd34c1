"""How many clusters? Several k, measured side by side, and drawn if matplotlib is installed.

``python choosing_k.py [picture.png]``. No measure knows what you want the clusters for: take the
best k as a hint, and look at the curve.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import arcmeans


def rows_around_six_directions(seed: int) -> np.ndarray:
    random = np.random.RandomState(seed)
    directions = random.standard_normal((6, 24))
    return directions[random.randint(6, size=2000)] + 0.6 * random.standard_normal((2000, 24))


def main(picture: Path | None = None) -> None:
    X = rows_around_six_directions(seed=1)
    # Several runs for each k, so that the curve shows the data and not the luck of the seeds.
    path = arcmeans.choose_k(X, range(2, 13), n_init=5, random_state=0)
    print(path)
    for metric in path.metrics:
        print(f"best k by {metric.replace('_', ' ')}: {path.best(metric)}")
    if picture is None:
        return
    if find_spec("matplotlib") is None:
        print("no picture: pip install arcmeans[plot]")
        return
    axes = path.plot()
    axes[0].figure.savefig(picture)
    print(f"drawn to {picture.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
