"""SOURCE on the command line: which reader takes it, and the rows that come out.

A new kind of source is an entry in ``TEXTS`` or ``MATRICES``; a new kind of folder is told from a
folder of texts in ``open_source``, and nowhere else.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from .._report.results import NamedRows
from .._rows.store import RowStore
from .._rows.store_header import HEADER as STORE_HEADER
from . import line_files, matrices, text_files
from .console import Console, UserError, counted
from .documents import Document, TextOptions, TextSource
from .matrices import MatrixSource, as_floats
from .parquet import parquet_file
from .vectorizer import Pruning, TextVectorizer

SNIPPET = 300
"""Characters of a text that are kept to show it by."""

TEXTS: dict[str, Callable[[Path, TextOptions], TextSource]] = {
    ".txt": line_files.lines,
    ".jsonl": line_files.json_lines,
    ".ndjson": line_files.json_lines,
    ".csv": partial(line_files.table, delimiter=","),
    ".tsv": partial(line_files.table, delimiter="\t"),
    ".parquet": parquet_file,
}
MATRICES: dict[str, Callable[[Path], MatrixSource]] = {
    ".npy": matrices.npy_file,
    ".npz": matrices.npz_file,
    ".mtx": matrices.mtx_file,
}
SVM = (".svm", ".svmlight", ".libsvm")
"""Endings of svmlight files, whose reader needs to know the model that the rows are for."""

Source = TextSource | MatrixSource


def open_source(
    path: str,
    options: TextOptions,
    n_features: int | None = None,
    zero_based: bool | None = None,
) -> Source:
    """The reader of a source. ``n_features`` and ``zero_based`` are those of the model to apply."""
    if path == "-":
        return line_files.lines(None, options)
    file = Path(path)
    if file.is_dir():
        store = (file / STORE_HEADER).exists()
        return matrices.row_store(file) if store else text_files.folder(file, options)
    if not file.exists():
        raise UserError(f"{path}: there is no such file or folder.")
    suffixes = [suffix.lower() for suffix in file.suffixes]
    packed = suffixes[-1:] == [".gz"]
    suffix = "".join(suffixes[:-1][-1:] if packed else suffixes[-1:])
    if suffix in TEXTS and not (packed and suffix == ".parquet"):
        return TEXTS[suffix](file, options)
    if suffix in SVM:
        return matrices.svm_file(file, n_features, zero_based)
    if suffix in MATRICES and (not packed or suffix == ".mtx"):
        return MATRICES[suffix](file)
    known = ", ".join([*TEXTS, *MATRICES, *SVM])
    raise UserError(
        f"{path}: {''.join(suffixes[-2:]) or 'a name without ending'} is none of the kinds of file "
        f"that can be read: {known}; nor is it a folder of texts."
    )


@dataclass
class SourceRows(NamedRows):
    """A source as rows to cluster."""

    vectorizer: TextVectorizer | None = None
    """None for matrices."""
    zero_based: bool | None = None
    """How the features of an svmlight file are counted."""
    store: RowStore | None = None
    """Where the rows are a store, which is fitted from disk."""


def read_all(
    source: Source,
    console: Console,
    new_vectorizer: Callable[[], TextVectorizer],
    pruning: Pruning,
) -> SourceRows:
    """All rows of a source; texts by a vectorizer fitted to them."""
    if isinstance(source, MatrixSource):
        console.say(f"reading {source.name}")
        X = as_floats(source.whole(), source.name)
        first = source.facts.get("features counted from")
        from_zero = None if first is None else first == 0
        return SourceRows(X, None, None, "rows", None, from_zero, source.store)
    ids: list[str] = []
    snippets: list[str] = []
    vectorizer = new_vectorizer()
    with console.stage(f"reading {source.name}", source.unit, source.total) as stage:
        advance = lambda done: stage.reach(done, f"{len(ids):,} documents")  # noqa: E731
        X = vectorizer.fit(_noted(source.documents(advance), ids, snippets), pruning)
    tell_skipped(source, console)
    console.say(f"{counted(len(ids), 'documents')}, {counted(X.shape[1], 'terms')}")
    return SourceRows(X, ids, snippets, "documents", vectorizer)


def read_parts(
    source: Source, console: Console, vectorizer: TextVectorizer | None, size: int
) -> Iterator[tuple[list[str] | None, Any]]:
    """The rows of a source, ``size`` at a time, with their ids; None where these are numbers."""
    if isinstance(source, MatrixSource):
        with console.stage(f"reading {source.name}", "rows", source.rows) as stage:
            done = 0
            for X in source.parts(size):
                yield None, as_floats(X, source.name, done)
                done += X.shape[0]
                stage.reach(done)
        return
    if vectorizer is None:
        raise UserError(
            f"{source.name} holds texts, but the model has no vocabulary: it was not made from "
            'texts by "arcmeans cluster".'
        )
    with console.stage(f"reading {source.name}", source.unit, source.total) as stage:
        documents = source.documents(stage.reach)
        for first in documents:
            ids: list[str] = []
            part = chain([first], islice(documents, size - 1))
            X = vectorizer.transform(_noted(part, ids, None))
            yield ids, X
    tell_skipped(source, console)


def tell_skipped(source: TextSource, console: Console) -> None:
    if source.problems.found:
        console.warn(source.problems.summary())


def _noted(
    documents: Iterable[Document], ids: list[str], snippets: list[str] | None
) -> Iterator[str]:
    for document in documents:
        ids.append(document.id)
        if snippets is not None:
            snippets.append(snippet(document.text))
        yield document.text


def snippet(text: str) -> str:
    """The beginning of a text, in one line."""
    return " ".join(text[: 4 * SNIPPET].split())[:SNIPPET]
