"""``arcmeans cluster``: read, weigh, fit, and write what came out."""

import csv
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from .._analysis.assignment import Assignment
from .._api.kmeans import SphericalKMeans
from .._report import write_report
from .._report.results import Results, Times
from .._run.records import Iteration
from . import models, options
from .console import Console, UserError, counted
from .output import check_folder, new_folder
from .source_rows import SourceRows
from .sources import open_source

FILES = frozenset(("labels.csv", models.FILE, "clusters.json", "trace.csv", "report.html"))
"""The files in the folder."""


@click.command(short_help="Cluster texts or a matrix, and write a page to look at.")
@click.argument("source")
@click.option(
    "-k",
    "--clusters",
    "k",
    type=click.IntRange(1),
    required=True,
    metavar="K",
    help="How many clusters.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FOLDER",
    help="Where to write; made anew.",
)
@options.force
@options.reading
@options.words
@click.option("--feature-names", metavar="FILE", help="Names of a matrix's columns, one a line.")
@options.fitting
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="From where a broken-off fit goes on.",
)
@options.manners
def cluster(source: str, k: int, output: Path, force: bool, console: Console, **given: Any) -> int:
    """Cluster SOURCE and write labels, model, terms and a page to look at.

    SOURCE is a folder of text files, a .txt (a document a line), .jsonl, .csv, .tsv or .parquet
    file, each of these but the last also as .gz; a matrix in .npz, .npy, .svm or .mtx; or - for
    lines on standard input.

    \b
    Examples:
      arcmeans cluster notes/ -k 20 -o topics
      arcmeans cluster mails.csv --text body --id subject -k 50 -o topics
      arcmeans cluster texte.jsonl --language de --ngrams 1-2 -k 30 -o themen
      arcmeans cluster embeddings.npy -k 100 -o groups --runs 5
      cut -f 3 log.tsv | arcmeans cluster - -k 10 -o groups

    The folder gets labels.csv, model.safetensors, clusters.json, trace.csv and report.html. It
    appears whole, at the end. Ctrl-C ends the fit and writes the result so far, and says so; with
    --checkpoint it writes nothing, and the same command goes on later.
    """
    check_folder(output, force, FILES)
    reading = options.text_options(given)
    new_vectorizer, pruning = options.word_options(given, reading.encoding)
    names_file, checkpoint = given.pop("feature_names"), given.pop("checkpoint")
    parameters = options.fit_options(given)
    started = time.perf_counter()
    rows = open_source(source, reading).read_all(console, new_vectorizer, pruning)
    if names_file is not None and rows.vectorizer is not None:
        raise UserError("--feature-names is for matrices; the terms of texts have names.")
    names = options.feature_names(names_file, rows.X.shape[1])
    models.check_names(rows.vectorizer, names)
    read = time.perf_counter()
    model, interrupted = fit(rows, k, parameters, checkpoint, console)
    fitted = time.perf_counter()
    if interrupted and checkpoint is not None and checkpoint.exists():
        console.error(
            f"interrupted; {checkpoint} has the state of the fit, and the same command goes on "
            "from there."
        )
        return 130
    if model is None:
        raise KeyboardInterrupt
    models.name_features(model, rows.vectorizer, names)
    console.say("describing the clusters")
    times = Times(read - started, fitted - read)
    results = Results.of(source, rows, model, times, interrupted)
    write(output, force, rows, results)
    if interrupted:
        console.error(
            f"interrupted after {model.n_iter_} iterations; {output} has the result so far "
            f"({results.stopped()})."
        )
    summary = {**results.summary(), "output": str(output), "files": sorted(FILES)}
    console.result(summary, text_summary(results, output))
    return 130 if interrupted else 0


def fit(
    rows: SourceRows, k: int, parameters: dict[str, Any], checkpoint: Path | None, console: Console
) -> tuple[SphericalKMeans | None, bool]:
    """A model, and whether Ctrl-C ended its fit; None if it came before there was one."""
    n_rows = rows.X.shape[0]
    if k > n_rows:
        raise UserError(f"-k {k}: more clusters than there are {rows.unit}, which is {n_rows:,}.")
    limit = parameters["max_iter"] * parameters["n_init"]
    with console.stage("clustering", "iterations", limit, limit=True) as stage:

        def show(step: Iteration) -> None:
            stage.reach(
                stage.done + 1,
                f"cosine {step.objective / n_rows:.4f}, {step.changed:,} changed",
            )

        model = SphericalKMeans(k, callback=show, checkpoint=checkpoint, **parameters)
        interrupted = False
        try:
            model.fit(rows.X if rows.store is None else rows.store)
        except KeyboardInterrupt:
            interrupted = True
    if not hasattr(model, "labels_"):
        return None, True
    return model.set_params(callback=None, checkpoint=None), interrupted


def write(output: Path, force: bool, rows: SourceRows, results: Results) -> None:
    """All files of the folder, or none."""
    with new_folder(output, force, FILES) as folder:
        write_labels(folder / "labels.csv", rows, results.assigned)
        models.save(results.model, rows.vectorizer, rows.zero_based, folder / models.FILE)
        with open(folder / "clusters.json", "w", encoding="utf-8") as file:
            json.dump(results.to_dict(), file, ensure_ascii=False, indent=1, allow_nan=False)
            file.write("\n")
        write_trace(folder / "trace.csv", results.model.trace_)
        write_report(folder / "report.html", results)


LABEL_COLUMNS = ("id", "label", "similarity", "second_label", "second_similarity")


def label_rows(ids: Iterable[Any], assigned: Assignment) -> Iterator[tuple[Any, ...]]:
    """The lines of ``labels.csv``; what a row does not have is None."""
    labels, seconds = assigned.labels.tolist(), assigned.seconds.tolist()
    best, other = assigned.similarities.tolist(), assigned.second_similarities.tolist()
    for name, label, similarity, second, next_best in zip(
        ids, labels, best, seconds, other, strict=True
    ):
        yield (
            name,
            label,
            None if label < 0 else round(similarity, 6),
            None if second < 0 else second,
            None if second < 0 else round(next_best, 6),
        )


def write_labels(path: Path, rows: SourceRows, assigned: Assignment) -> None:
    ids = range(len(assigned.labels)) if rows.ids is None else rows.ids
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(LABEL_COLUMNS)
        writer.writerows(label_rows(ids, assigned))


def write_trace(path: Path, trace: Any) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(trace.dtype.names)
        writer.writerows(trace.tolist())


def text_summary(results: Results, output: Path) -> str:
    """For people: what came out, the largest clusters, where it is."""
    facts = results.summary()
    lines = [
        f"{counted(facts['rows'], results.rows.unit)} in {counted(facts['k'], 'clusters')}, "
        f"mean cosine {facts['mean_cosine']:.4f}, {facts['iterations']:,} iterations "
        f"({facts['stopped']}), {facts['seconds']['fit']:.2f} s",
    ]
    shown = results.by_size()[:10]
    for cluster in shown:
        terms = ", ".join(term.name for term in cluster.descriptive[:7])
        lines.append(f"  {cluster.label:>5}  {cluster.size or 0:>7,}  {terms}")
    if len(results.explanation) > len(shown):
        lines.append(f"  and {len(results.explanation) - len(shown):,} more")
    return "\n".join([*lines, f"report: {output / 'report.html'}"])
