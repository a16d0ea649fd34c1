"""SOURCE on the command line: which reader takes it, and the rows that come out.

A new kind of source is an entry in ``TEXTS`` or ``MATRICES``; a new kind of folder is told from a
folder of texts in ``open_source``, and nowhere else.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from .._rows.store_header import HEADER as STORE_HEADER
from . import line_files, matrices, text_files
from .console import Console, UserError
from .documents import TextOptions, TextSource
from .matrices import MatrixSource
from .parquet import parquet_file
from .source_rows import SourceRows
from .vectorizer import Pruning, TextVectorizer

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


class Source(Protocol):
    """Texts or a matrix, from which commands read rows."""

    name: str

    @property
    def matrix(self) -> MatrixSource | None:
        """The source if it is a matrix."""

    def read_all(
        self, console: Console, new_vectorizer: Callable[[], TextVectorizer], pruning: Pruning
    ) -> SourceRows:
        """All rows; texts by a vectorizer fitted to them."""

    def read_parts(
        self, console: Console, vectorizer: TextVectorizer | None, size: int
    ) -> Iterator[tuple[list[str] | None, Any]]:
        """The rows, ``size`` at a time, with their ids; None where these are numbers."""


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
