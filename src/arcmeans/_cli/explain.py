"""``arcmeans explain``: what the clusters of a model are about."""

from dataclasses import replace
from typing import Any

import click
import scipy.sparse as sp

from .._analysis.assignment import assign_parts
from .._analysis.explain import explain as explain_model
from .._analysis.explanation import ClusterExplanation
from . import models, options
from .console import Console, UserError
from .sources import Source, open_source

PART = 8192
"""Rows read at a time."""


@click.command()
@click.argument("model")
@click.argument("source", required=False)
@click.option("--cluster", "label", type=click.IntRange(0), metavar="N", help="Only this one.")
@click.option(
    "--top",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    metavar="N",
    help="Terms of each kind.",
)
@click.option(
    "--typical",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    metavar="N",
    help="Rows of each kind.",
)
@options.reading
@options.manners
def explain(
    model: str,
    source: str | None,
    label: int | None,
    top: int,
    typical: int,
    console: Console,
    **given: Any,
) -> int:
    """Print what the clusters of MODEL are about, the largest first.

    With SOURCE, rows that the model was made from or others, also how tight the clusters are and
    which rows are typical.

    \b
    Examples:
      arcmeans explain topics
      arcmeans explain topics --cluster 3 --top 30
      arcmeans explain topics mails.csv --text body --json
    """
    loaded = models.load(model)
    k = len(loaded.estimator.cluster_centers_)
    if label is not None and label >= k:
        raise UserError(f"--cluster {label}: the model has clusters 0 to {k - 1}.")
    reading = options.text_options(given)
    X, ids, labels = None, None, None
    if source is not None:
        opened = open_source(source, reading, loaded.estimator.n_features_in_, loaded.zero_based)
        X, ids = _rows(opened, loaded, console)
        labels = assign_parts(loaded.estimator, X).labels
    names = getattr(loaded.estimator, "feature_names_in_", None)
    found = explain_model(loaded.estimator, names, X, top=top, n_typical=typical, labels=labels)
    chosen = sorted(found, key=lambda c: -(c.size or 0)) if label is None else [found[label]]
    value = {"clusters": [_as_json(cluster, ids) for cluster in chosen]}
    console.result(value, "\n\n".join(_as_text(cluster, ids) for cluster in chosen))
    return 0


def _rows(source: Source, loaded: models.Model, console: Console) -> tuple[Any, list[str] | None]:
    """All rows of a source and their ids."""
    parts = list(source.read_parts(console, loaded.vectorizer, PART))
    if not parts:
        raise UserError(f"{source.name}: there are no rows in it.")
    ids = [name for part, _ in parts for name in part or ()]
    return sp.vstack([sp.csr_array(X) for _, X in parts], format="csr"), ids or None


def _as_json(cluster: ClusterExplanation, ids: list[str] | None) -> dict[str, Any]:
    value = cluster.to_dict()
    for kind in ("typical", "atypical"):
        for row in value[kind]:
            row["id"] = row["row"] if ids is None else ids[row["row"]]
    return value


def _as_text(cluster: ClusterExplanation, ids: list[str] | None) -> str:
    """The library's words; rows go by their ids, where they have any."""
    if ids is None:
        return str(cluster)
    lines = [str(replace(cluster, typical=(), atypical=()))]
    for title, rows in (("typical:", cluster.typical), ("atypical:", cluster.atypical)):
        for row in rows:
            lines.append(f"  {title:<16}{ids[row.row]} ({row.cosine:.2f})")
            title = ""
    return "\n".join(lines)
