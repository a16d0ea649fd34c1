"""Rows that come in batches and are too many to keep: ``partial_fit``, then ``predict``."""

from collections.abc import Iterator

import numpy as np

import arcmeans


def batches(n: int, size: int, seed: int) -> Iterator[np.ndarray]:
    """A stream of rows around eight directions; a batch is gone once the next one is asked for."""
    directions = np.random.RandomState(0).standard_normal((8, 32))
    random = np.random.RandomState(seed)
    for _ in range(n):
        yield directions[random.randint(8, size=size)] + 0.7 * random.standard_normal((size, 32))


def main() -> None:
    # The first batch alone gives the seeds: spend a little more on them.
    model = arcmeans.MiniBatchSphericalKMeans(8, init="greedy-k-means++", random_state=0)
    held_out = next(batches(1, size=2000, seed=2))
    for i, batch in enumerate(batches(40, size=500, seed=1), 1):
        model.partial_fit(batch)
        if i in (1, 5, 10, 20, 40):
            score = arcmeans.metrics.simplified_silhouette_score(held_out, model=model)
            print(f"after {i:2} batches: simplified silhouette of held-out rows {score:.3f}")
    sizes = np.bincount(model.predict(held_out), minlength=8)
    print(f"sizes of the clusters among held-out rows: {sizes.tolist()}")


if __name__ == "__main__":
    main()
