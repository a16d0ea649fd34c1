"""Files and folders that come into being whole, or not at all.

What is made is written beside its place, flushed to the disk and renamed: whoever looks sees the
old one, or the new one, or none, also if the process is killed. Nothing that exists is replaced
unasked, and a folder only if all in it is what ``arcmeans`` writes.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

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
    beside = _beside(path)
    try:
        beside.mkdir()
        beside.rmdir()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def new_folder(path: Path, force: bool, ours: frozenset[str]) -> Iterator[Path]:
    """A folder to write to; once the block ends without an error it is at ``path``."""
    check_folder(path, force, ours)
    beside = _beside(path)
    beside.mkdir()
    try:
        yield beside
        for file in beside.iterdir():
            _to_disk(file)
        _to_disk(beside)
        check_folder(path, force, ours)
        _put(beside, path)
        _to_disk(beside.parent)
    except OSError as error:
        raise OSError(
            error.errno, f"{error.strerror}; {path} was not written", str(path)
        ) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def check_file(path: Path, force: bool) -> None:
    if path.is_dir():
        raise UserError(f"{path} is a folder; -o names a file here.")
    if os.path.lexists(path) and not force:
        raise UserError(f"{path} exists; --force replaces it, -o names another.")
    _check_parent(path)


@contextmanager
def new_file(path: Path, force: bool) -> Iterator[BinaryIO]:
    """A file to write to; once the block ends without an error it is at ``path``."""
    check_file(path, force)
    beside = _beside(path)
    try:
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        raise OSError(
            error.errno, f"{error.strerror}; {path} was not written", str(path)
        ) from error
    finally:
        with suppress(OSError):
            beside.unlink()


def _beside(path: Path) -> Path:
    whole = Path(os.path.abspath(path))
    return whole.with_name(f".{whole.name}.{secrets.token_hex(4)}.part")


def _check_parent(path: Path) -> None:
    parent = Path(os.path.abspath(path)).parent
    if not parent.is_dir():
        raise UserError(f"{path}: the folder {parent} does not exist.")


def _put(beside: Path, path: Path) -> None:
    """Renames; a folder that is replaced goes aside first, and comes back if that fails."""
    if not path.exists():
        os.rename(beside, path)
        return
    aside = _beside(path)
    os.rename(path, aside)
    try:
        os.rename(beside, path)
    except BaseException:
        os.rename(aside, path)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
