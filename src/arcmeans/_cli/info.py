"""``arcmeans info``: the facts of a matrix, of a model, or of this installation."""

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import scipy.sparse as sp

from .._api.config import config
from . import models, options
from .console import Console, UserError
from .documents import TextOptions
from .matrices import MatrixSource
from .sources import open_source

PART = 8192
"""Rows looked at a time."""


@click.command(short_help="Print the facts of a matrix or a model.")
@click.argument("path", required=False)
@options.manners
def info(path: str | None, console: Console) -> int:
    """Print the facts of a matrix or a model; without PATH, of this installation.

    \b
    Examples:
      arcmeans info rows.npz
      arcmeans info topics/model.safetensors --json
      arcmeans info
    """
    if path is None:
        facts: dict[str, Any] = dict(config())
    elif Path(path).suffix == ".safetensors" or (Path(path) / models.FILE).exists():
        facts = model_facts(path)
    else:
        source = open_source(path, TextOptions()).matrix
        if source is None:
            raise UserError(f"{path} holds texts; info tells of a matrix or a model.")
        facts = matrix_facts(path, source, console)
    width = max(map(len, facts))
    lines = [f"{name:<{width}}  {_shown(value)}" for name, value in facts.items()]
    console.result(facts, "\n".join(lines))
    return 0


def matrix_facts(path: str, source: MatrixSource, console: Console) -> dict[str, Any]:
    """What a file says of itself, and what a look at all of it shows."""
    X = source.whole()
    n_rows, n_features = X.shape
    nonzero = zero_rows = not_finite = negative = longest = 0
    with console.stage(f"reading {path}", "rows", n_rows) as stage:
        whole = sp.csr_array(X) if sp.issparse(X) else X
        for first in range(0, n_rows, PART):
            part = whole[first : first + PART]
            values = part.data if sp.issparse(part) else np.asarray(part)
            filled = _filled(part)
            nonzero += int(filled.sum())
            zero_rows += int(np.sum(filled == 0))
            longest = max(longest, int(filled.max()))
            not_finite += int(np.sum(~np.isfinite(values)))
            negative += int(np.sum(values < 0))
            stage.reach(first + len(filled))
    return {
        "file": path,
        "bytes": Path(path).stat().st_size,
        **source.facts,
        "dtype": str(X.dtype),
        "rows": int(n_rows),
        "features": int(n_features),
        "non-zero values": nonzero,
        "density": nonzero / (n_rows * n_features),
        "non-zero values of a row": nonzero / n_rows,
        "most of a row": longest,
        "all-zero rows": zero_rows,
        "negative values": negative,
        "values not finite": not_finite,
    }


def _filled(part: Any) -> Any:
    """The number of values of each row that are not zero."""
    if not sp.issparse(part):
        return np.count_nonzero(part, axis=1)
    part = part.copy()
    part.sum_duplicates()
    part.eliminate_zeros()
    return np.diff(part.indptr)


def model_facts(path: str) -> dict[str, Any]:
    loaded = models.load(path)
    model, header = loaded.estimator, loaded.header
    sizes = np.bincount(model.labels_[model.labels_ >= 0], minlength=model.n_clusters)
    facts: dict[str, Any] = {
        "file": loaded.path,
        "bytes": Path(loaded.path).stat().st_size,
        "written by": f"arcmeans {header['arcmeans_version']}, format {header['format_version']}",
        "class": header["class"],
        "clusters": int(model.n_clusters),
        "features": int(model.n_features_in_),
        "rows fitted": len(model.labels_),
        "rows without a label": int(np.sum(model.labels_ < 0)),
        "smallest cluster": int(sizes.min()),
        "largest cluster": int(sizes.max()),
        "objective": float(model.trace_["objective"][-1]),
        "inertia": float(model.inertia_),
        "iterations": int(model.n_iter_),
        "parameters": json.loads(header["params"]),
    }
    if loaded.vectorizer is not None:
        text = loaded.vectorizer
        facts["texts"] = {
            "terms": len(text.terms),
            "tokens": text.tokens,
            "ngrams": list(text.ngrams),
            "stop words": len(text.stop_words),
        }
    return facts


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_shown(part)}" for name, part in value.items())
    if isinstance(value, float):
        return f"{value:,.6g}"
    return f"{value:,}" if type(value) is int else str(value)
