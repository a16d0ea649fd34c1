"""Files that are read whole: a folder of texts, and a list of stop words."""

import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from .console import UserError
from .decoding import NotTextError, decoded, opened, reason
from .documents import Advance, Document, Faults, TextOptions, TextSource


def folder(path: Path, options: TextOptions) -> TextSource:
    """Every file below a folder is a document; what begins with a dot is left out."""
    faults = Faults(options.skip_errors)
    files: list[Path] = []

    def unreadable(error: OSError) -> None:
        faults.add(str(error.filename), str(error.strerror))

    for place, folders, names in os.walk(path, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += (Path(place, name) for name in sorted(names) if not name.startswith("."))
    if not files:
        faults.check()
        raise UserError(f"{path}: the folder holds no files (those that begin with a dot aside).")

    def read(faults: Faults, advance: Advance) -> Iterator[Document]:
        for done, file in enumerate(files):
            advance(done)
            try:
                with opened(file) as raw:
                    text = decoded(raw.read(), options.encoding)
            except (OSError, EOFError, zlib.error, NotTextError) as error:
                faults.add(str(file), reason(error))
                continue
            yield Document(str(file.relative_to(path)), text)

    return TextSource(str(path), read, len(files), "files", faults)


def stop_word_file(path: Path, encoding: str) -> list[str]:
    """The words of a file, one a line or several."""
    try:
        with opened(path) as file:
            return sorted(set(re.findall(r"\S+", decoded(file.read(), encoding).lower())))
    except (EOFError, zlib.error, NotTextError) as error:
        raise UserError(f"{path}: {reason(error)}") from error
