"""Small real inputs for the command line: sentences of four topics, in every kind of file."""

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from arcmeans import RowStore

Run = Callable[..., str]
"""The fixture ``fails``."""


def cluster(source: str, *options: str) -> tuple[str, ...]:
    return ("cluster", source, "-k", "4", "-o", "out", *options)


TOPICS = {
    "space": "rocket orbit launch moon satellite astronaut shuttle telescope planet gravity",
    "kitchen": "butter flour oven recipe garlic onion pepper sauce bake simmer",
    "court": "judge lawyer verdict jury appeal witness statute trial plaintiff ruling",
    "garden": "tulip compost seedling prune hedge soil mulch rosebush weed harvest",
}


def sentences(n: int = 120) -> list[str]:
    """The i-th is about the topic i modulo 4; each shares words with others of its topic."""
    random = np.random.RandomState(7)
    words = [topic.split() for topic in TOPICS.values()]
    return [f"The {' '.join(random.choice(words[i % 4], 6))} number {i}" for i in range(n)]


def text_file(folder: Path, kind: str) -> list[str]:
    """Writes the sentences as one kind of file; the arguments that name it."""
    texts = sentences()
    path = folder / f"texts.{kind}"
    records = [{"name": f"n{i}", "text": text} for i, text in enumerate(texts)]
    if kind == "folder":
        path.mkdir()
        for i, text in enumerate(texts):
            (path / f"{'ab'[i % 2]}").mkdir(exist_ok=True)
            (path / f"{'ab'[i % 2]}" / f"{i:03}.txt").write_text(text)
    elif kind == "txt":
        path.write_text("\n".join(texts) + "\n")
    elif kind == "txt.gz":
        path.write_bytes(gzip.compress("\n".join(texts).encode()))
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    elif kind in ("csv", "tsv"):
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, delimiter={"csv": ",", "tsv": "\t"}[kind])
            writer.writerows([("name", "text"), *((r["name"], r["text"]) for r in records)])
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(records), path)
    return [str(path)]


TEXT_KINDS = ("folder", "txt", "txt.gz", "jsonl", "csv", "tsv", "parquet")


def matrix(n: int = 120, d: int = 30) -> sp.csr_array:
    """Rows with an entry in every column of their quarter, and some noise."""
    random = np.random.RandomState(3)
    X = random.rand(n, d) * (random.rand(n, d) < 0.2)
    for i in range(n):
        X[i, (i % 4) * 7 : (i % 4) * 7 + 7] += 1
    return sp.csr_array(X)


def matrix_file(folder: Path, kind: str) -> list[str]:
    X = matrix()
    path = folder / f"rows.{kind.split('-')[0]}"
    if kind == "npy":
        np.save(path, X.toarray())
    elif kind == "npz-dense":
        np.savez(path, X.toarray())
    elif kind.startswith("npz"):
        sp.save_npz(path, X.asformat(kind.split("-")[1]))
    elif kind == "store":
        RowStore.write(path, [X])
    elif kind == "mtx":
        scipy.io.mmwrite(path, X, precision=17)
    else:
        dump_svmlight_file(X, np.zeros(X.shape[0]), str(path), zero_based=kind == "svm-zero")
    return [str(path)]


MATRIX_KINDS = (
    "npy",
    "npz-dense",
    "npz-csr",
    "npz-csc",
    "npz-coo",
    "mtx",
    "svm-zero",
    "svm-one",
    "store",
)


HOSTILE = (
    "</script><script>window.ran = 1</script>",
    '<img src="x" onerror="window.ran = 2">',
    "<!-- <script> --> ]]> {{data}} ${window.ran = 3}",
    '<a href="javascript:window.ran = 4">rocket</a> \u2028 \\u003c &lt;b&gt; \'"`',
    "\x00\x07\x1b[31m\ud800 <svg onload=window.ran=5>",
)
