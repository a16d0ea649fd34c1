"""What the pages show, as JSON, within a size that does not depend on the number of rows.

Under ``LARGEST`` clusters and ``SAMPLE`` rows with texts of ``TEXT_BYTES`` at most, whatever is in
them, a page stays below 5 MB.
"""

import json
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._analysis.assignment import similarities_of
from .._analysis.explanation import ClusterExplanation, Term, TypicalRow
from .._analysis.k_path import KPath
from .map import place_centers, place_rows
from .results import NamedRows, Results

LARGEST = 1000
"""Clusters on the page; clusters.json has all."""
SAMPLE = 1500
"""Rows on the map."""
TYPICAL_TEXTS = 4000
"""Typical and atypical rows on the page, at most: fewer a cluster where there are many."""
TEXT_BYTES, ID_BYTES, TERM_BYTES = 400, 100, 60
BINS = 40
"""Of similarities from 0 to 1, and as many below 0 where there are any."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def report_data(results: Results) -> dict[str, Any]:
    clusters = results.by_size()[:LARGEST]
    least = -1.0 if np.nanmin(results.assigned.similarities, initial=0.0) < 0 else 0.0
    bins = np.linspace(least, 1.0, BINS * (1 if least == 0 else 2) + 1)
    members = _members(results)
    typical = max(1, min(5, TYPICAL_TEXTS // (2 * len(clusters))))
    summary = results.summary()
    return {
        "unit": results.rows.unit,
        "summary": {**summary, "source": cut(summary["source"], TEXT_BYTES)},
        "bins": [float(edge) for edge in bins],
        "quantiles": QUANTILES,
        "all": _distribution(np.concatenate([*members, np.empty(0)]), bins),
        "clusters": [
            {**_cluster(results, c, typical), **_distribution(members[c.label], bins)}
            for c in clusters
        ],
        "map": _map(results, clusters),
        "trace": _trace(results),
    }


def choice_data(path: KPath, source: str, rows: NamedRows) -> dict[str, Any]:
    columns = path.table.dtype.names or ()
    finite = {
        name: [v if np.isfinite(v) else None for v in path.table[name].tolist()] for name in columns
    }
    return {
        "source": cut(source, TEXT_BYTES),
        "rows": int(rows.X.shape[0]),
        "unit": rows.unit,
        "metrics": list(path.metrics),
        "table": finite,
    }


def cut(text: str, most: int) -> str:
    """The beginning of a text, which takes at most ``most`` bytes as JSON in a page."""
    size = len(_escaped(text[:most]))
    if len(text) <= most and size <= most:
        return text
    short = text[: most - 1]
    while len(_escaped(short)) > most - 3:
        short = short[: max(0, min(len(short) - 1, len(short) * most // len(_escaped(short))))]
    return short + "…"


def _escaped(text: str) -> bytes:
    """A text as JSON, at least as long as ``page.embedded`` makes it."""
    plain = json.dumps(text, ensure_ascii=False).encode(errors="replace")
    for mark in (b"<", b">", b"&"):
        plain = plain.replace(mark, b"\\u0000")
    return plain


def _members(results: Results) -> list[NDArray[np.float64]]:
    """The similarities of the rows of each cluster, ascending."""
    labels, similarities = results.assigned.labels, results.assigned.similarities
    order = np.lexsort((similarities, labels))
    starts = np.searchsorted(labels[order], np.arange(len(results.explanation) + 1))
    return [similarities[order[a:b]] for a, b in pairwise(starts)]


def _distribution(similarities: NDArray[np.float64], bins: NDArray[np.float64]) -> dict[str, Any]:
    if not len(similarities):
        return {"histogram": [0] * (len(bins) - 1), "quantiles": None}
    return {
        "histogram": np.histogram(similarities, bins)[0].tolist(),
        "quantiles": np.quantile(similarities, QUANTILES).round(4).tolist(),
    }


def _cluster(results: Results, cluster: ClusterExplanation, typical: int) -> dict[str, Any]:
    return {
        "label": cluster.label,
        "size": cluster.size,
        "share": cluster.share,
        "cohesion": _rounded(cluster.cohesion),
        "separation": _rounded(cluster.separation),
        "nearest": cluster.nearest,
        "descriptive": [_term(term) for term in cluster.descriptive],
        "discriminating": [[*_term(term), _less(term)] for term in cluster.discriminating],
        "typical": [_row(results, row) for row in cluster.typical[:typical]],
        "atypical": [_row(results, row) for row in cluster.atypical[:typical]],
    }


def _term(term: Term) -> list[Any]:
    return [cut(term.name, TERM_BYTES), round(term.share, 4)]


def _less(term: Term) -> bool:
    """Whether the cluster has less of the term than the other rows."""
    return term.rest is not None and term.center < term.rest


def _row(results: Results, row: TypicalRow) -> list[Any]:
    return [*_named(results.rows, row.row), _rounded(row.cosine)]


def _named(rows: NamedRows, i: int) -> list[str]:
    """The id of a row and its text; an empty text where it has none."""
    return [cut(rows.id(i), ID_BYTES), cut(rows.snippet(i) or "", TEXT_BYTES)]


def _map(results: Results, clusters: list[ClusterExplanation]) -> dict[str, Any]:
    """Centers in the order of ``clusters``, and rows with the place of their cluster in it."""
    shown = np.array([cluster.label for cluster in clusters if cluster.size], np.int64)
    places = place_centers(results.model.cluster_centers_[shown])
    position = np.full(len(results.explanation), -1)
    position[shown] = np.arange(len(shown))
    labels = results.assigned.labels
    usable = np.flatnonzero(labels >= 0)
    usable = usable[position[labels[usable]] >= 0]
    random = np.random.RandomState(0)
    picked = np.sort(random.choice(usable, min(SAMPLE, len(usable)), replace=False))
    similarities = similarities_of(results.model, results.rows.X[picked])[:, shown]
    return {
        "centers": places.round(4).tolist(),
        "rows": [
            [*place, int(position[labels[i]]), *_named(results.rows, i), _rounded(similarity)]
            for place, i, similarity in zip(
                place_rows(similarities, places).round(4).tolist(),
                picked.tolist(),
                results.assigned.similarities[picked].tolist(),
                strict=True,
            )
        ],
        "of": len(usable),
    }


def _trace(results: Results) -> dict[str, Any]:
    trace = results.model.trace_
    return {
        "mean_cosine": (trace["objective"] / max(1, results.counted)).tolist(),
        "changed": trace["changed"].tolist(),
        "similarities": trace["similarities"].tolist(),
        "all_pairs": results.counted * int(results.model.n_clusters),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
