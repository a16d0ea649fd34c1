"""From raw text files to labels on a Dask cluster of this machine, with rows on disk between."""

import logging
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from distributed import Client, LocalCluster
from sklearn.feature_extraction.text import HashingVectorizer

import arcmeans
import arcmeans.dask

TOPICS = {
    "sea": "boat sail wave harbour captain tide anchor storm deck island",
    "kitchen": "oven bread butter knife onion recipe salt pan flour soup",
    "garden": "seed soil flower spade rose hedge lawn weed bee apple",
    "music": "violin piano song choir drum concert rhythm melody tune opera",
}


def write_texts(folder: Path, n_files: int) -> None:
    """The raw data: files with a text a line."""
    chosen = random.Random(0)
    for i in range(n_files):
        lines = []
        for _ in range(500):
            words = TOPICS[chosen.choice(list(TOPICS))].split()
            lines.append(" ".join(chosen.choices(words, k=8)))
        (folder / f"part-{i:03}.txt").write_text("\n".join(lines), "utf-8")


def vectors(folder: Path) -> Iterator[sp.csr_matrix]:
    """One file after another: hashed words need no vocabulary, so no pass over all files first."""
    vectorizer = HashingVectorizer(n_features=2**12, alternate_sign=False, dtype=np.float32)
    for path in sorted(folder.glob("*.txt")):
        with path.open(encoding="utf-8") as lines:
            yield vectorizer.transform(lines)


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as name,
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR
        ) as cluster,
        Client(cluster),
    ):
        folder = Path(name)
        write_texts(folder, n_files=8)
        store = arcmeans.RowStore.write(folder / "rows", vectors(folder))
        print(f"on disk: {store.shape[0]} rows of {store.shape[1]} features")

        options = {"n_clusters": 4, "init": "k-means||", "random_state": 4}
        model = arcmeans.dask.SphericalKMeans(**options).fit(store)
        labels = model.labels_  # lazy: a block for each partition, on the worker that made it
        print(f"labels: {labels.numblocks[0]} blocks, {model.n_iter_} iterations")
        for i in (1, 2, model.n_iter_):
            sent = model.traffic_[i - 1]
            print(f"  iteration {i}: {sent.to_workers} bytes to the workers, {sent.to_client} back")

        sizes = np.bincount(labels.compute(), minlength=4)
        print(f"sizes of the clusters: {sorted(sizes.tolist())}")
        local = arcmeans.SphericalKMeans(**options).fit(store)
        same = np.array_equal(labels.compute(), local.labels_)
        print(f"the same labels as on one thread here: {same}")


if __name__ == "__main__":
    main()
