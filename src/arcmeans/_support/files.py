"""Files and folders that come into being whole, or not at all.

A file is written beside its place, flushed to the disk, and renamed: whoever looks sees the old
file or the new one, also where the process is killed. So it is with folders, except that a folder
cannot be replaced in one step: between two renames there is none.
"""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

FilePath = str | os.PathLike[str]


@contextmanager
def written_whole(path: FilePath, *, beside: Path | None = None) -> Iterator[BinaryIO]:
    """A file to write to, which is at ``path`` once the block ends without an error.

    A link at ``path`` stays a link, and the file it names is replaced. ``beside`` names the file in
    the meantime, for callers that remove what a killed process left of it; then a link is replaced
    like any file. An OSError names ``path``.
    """
    target = Path(os.path.realpath(path)) if beside is None else Path(path)
    beside = _beside(target) if beside is None else beside
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
        _to_disk(target.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        with suppress(OSError):
            beside.unlink()


@contextmanager
def folder_written_whole(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """A folder to write to, which is at ``path`` once the block ends without an error.

    It holds files only. With ``replace`` it takes the place of another folder; else nothing may be
    there.
    """
    beside = _folder_beside(path)
    try:
        yield beside
        for file in beside.iterdir():
            _to_disk(file)
        _to_disk(beside)
        _put(beside, path, replace)
        _to_disk(beside.parent)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def check_folder_can_be_made(path: Path) -> None:
    """An OSError that names ``path`` where no folder can be made."""
    _folder_beside(path).rmdir()


def _folder_beside(path: Path) -> Path:
    beside = _beside(Path(os.path.abspath(path)))
    try:
        beside.mkdir()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    return beside


def _beside(path: Path) -> Path:
    """A new name in the folder of a path, as short for a long name as for any."""
    return path.with_name(f".arcmeans-{secrets.token_hex(8)}.part")


def _put(beside: Path, path: Path, replace: bool) -> None:
    """Renames a folder. The folder it replaces goes aside first, and comes back if that fails."""
    if not os.path.lexists(path):
        os.rename(beside, path)
        return
    if not replace:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    aside = _beside(Path(os.path.abspath(path)))
    os.rename(path, aside)
    try:
        os.rename(beside, path)
    except BaseException:
        os.rename(aside, path)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _to_disk(path: Path) -> None:
    """Has the system write a file, or the names in a folder, to the disk."""
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):
        return  # folders cannot be opened here
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
