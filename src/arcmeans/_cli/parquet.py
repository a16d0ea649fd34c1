"""Documents from Parquet files, read by pyarrow, which is imported only for such a file."""

import importlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from .console import UserError
from .documents import Advance, Document, Faults, TextOptions, TextSource, column

PARQUET_ROWS = 1024
"""Rows of a batch."""


def parquet_file(path: Path, options: TextOptions) -> TextSource:
    """Every row of a Parquet file is a document."""
    try:
        arrow = importlib.import_module("pyarrow")
        reader = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UserError(
            f"{path}: Parquet is read by pyarrow, which is not installed: "
            "pip install 'arcmeans[cli]'"
        ) from error
    with open(path, "rb"):  # a missing file, no permission: errors that name it
        pass
    try:
        with closing(reader.ParquetFile(path)) as file:
            names, rows = list(file.schema_arrow.names), file.metadata.num_rows
            kinds = {name: file.schema_arrow.field(name).type for name in names}
    except (arrow.ArrowException, OSError) as error:
        raise UserError(f"{path}: damaged, cut off, or not Parquet ({error})") from error
    strings = [name for name in names if _is_text(arrow.types, kinds[name])]
    default = options.text or (strings[0] if len(strings) == 1 else None)
    text = names[column(str(path), names, default)]
    if text not in strings:
        raise UserError(f"{path}: column {text!r} holds {kinds[text]}, not text.")
    columns = [text] if options.id is None else [text, names[column(str(path), names, options.id)]]

    def read(faults: Faults, advance: Advance) -> Iterator[Document]:
        number = 0
        try:
            with closing(reader.ParquetFile(path)) as file:
                for batch in file.iter_batches(batch_size=PARQUET_ROWS, columns=columns):
                    values = [batch.column(name).to_pylist() for name in columns]
                    for record in zip(*values, strict=True):
                        number += 1
                        name = str(number) if options.id is None else str(record[1])
                        yield Document(name, record[0] or "")
                    advance(number)
        except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: damaged after row {number} ({error})") from error

    return TextSource(str(path), read, rows, "rows", Faults(options.skip_errors))


def _is_text(types: Any, kind: Any) -> bool:
    """Whether a column of this type of Arrow's holds strings, as they are or as a dictionary."""
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))
