"""Where commands write: nothing that exists is replaced unasked.

A folder is replaced only if all files in it have names that ``arcmeans`` writes. What is written
comes into being whole, or not at all.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .._support.files import check_folder_can_be_made, folder_written_whole, written_whole
from .console import UserError


def check_folder(path: Path, force: bool, ours: frozenset[str]) -> None:
    """Before any work: whether a folder can be made here, or replaced."""
    if os.path.lexists(path):
        if not path.is_dir() or path.is_symlink():
            raise UserError(f"{path} exists and is not a folder; name another with -o.")
        if not force:
            raise UserError(f"{path} exists; --force replaces it, -o names another.")
        others = sorted(set(os.listdir(path)) - ours)
        if others:
            raise UserError(
                f"{path} holds {others[0]!r}, which is not of arcmeans' making: --force replaces "
                "only folders that arcmeans wrote. Name another with -o."
            )
    _check_parent(path)
    check_folder_can_be_made(path)


@contextmanager
def new_folder(path: Path, force: bool, ours: frozenset[str]) -> Iterator[Path]:
    """A folder to write to; once the block ends without an error it is at ``path``."""
    check_folder(path, force, ours)
    with _named(path), folder_written_whole(path, replace=force) as beside:
        yield beside
        check_folder(path, force, ours)  # again: much may have happened since


def check_file(path: Path, force: bool) -> None:
    """Before any work: whether a file can be made here, or replaced."""
    if path.is_dir():
        raise UserError(f"{path} is a folder; -o names a file here.")
    if os.path.lexists(path) and not force:
        raise UserError(f"{path} exists; --force replaces it, -o names another.")
    _check_parent(path)


@contextmanager
def new_file(path: Path, force: bool) -> Iterator[BinaryIO]:
    """A file to write to; once the block ends without an error it is at ``path``."""
    check_file(path, force)
    with _named(path), written_whole(path) as file:
        yield file


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """An OSError says what was not written."""
    try:
        yield
    except OSError as error:
        raise OSError(
            error.errno, f"{error.strerror}; {path} was not written", str(path)
        ) from error


def _check_parent(path: Path) -> None:
    parent = Path(os.path.abspath(path)).parent
    if not parent.is_dir():
        raise UserError(f"{path}: the folder {parent} does not exist.")
