"""The six data sets of the paper *Accelerating Spherical k-Means* (SISAP 2021), Table 1.

``load`` gives a matrix with names for rows and columns, from a cache folder: ``ARCMEANS_DATA``,
else the platform's. A data set that is not there yet is built from its original files, which the
user names, which lie in the folder, or which are downloaded if asked to. ``python -m
arcmeans.datasets`` does the same.
"""

from pathlib import Path

from . import _cache as cache
from ._cache import Dataset, folder
from ._download import Remote, digest, fetch
from ._origins import NAMES, ORIGINS, TITLES, Origin

__all__ = ["NAMES", "TITLES", "Dataset", "folder", "load"]


def load(name: str, *, source: str | Path | None = None, download: bool = False) -> Dataset:
    """A data set.

    Parameters
    ----------
    name : str
        One of ``NAMES``.
    source : path or None, default=None
        Build it (again) from this file; for rcv1, which has several, from this folder. None takes
        it from the cache folder, or builds it from original files that are there.
    download : bool, default=False
        Fetch original files that are missing.

    Returns
    -------
    Dataset
        ``X``, a CSR matrix of TF-IDF weights, ``row_names`` and ``column_names``.

    Raises
    ------
    FileNotFoundError
        If it is neither there nor to be downloaded: says where to get it and where to put it.
    OSError
        If it cannot be downloaded: says the same.
    ValueError
        If a file is broken, or not what its checksum says.
    """
    if name not in ORIGINS:
        raise ValueError(f"name={name!r} should be one of {', '.join(NAMES)}.")
    if source is None and cache.path_of(name).exists():
        return cache.read(name)
    origin = ORIGINS[name]
    if source is not None:
        built = origin.build(_given(origin, Path(source)))
    else:
        built = origin.found() or origin.build(_files_there(name, origin, download))
    for dataset in built:
        cache.write(dataset)
    return cache.read(name)


def _given(origin: Origin, source: Path) -> list[Path]:
    """The user's own file, or the files of a folder."""
    if len(origin.files) == 1 and not source.is_dir():
        paths = [source]
    else:
        paths = [source / remote.name for remote in origin.files]
    for path, remote in zip(paths, origin.files, strict=True):
        if not path.is_file():
            raise FileNotFoundError(f"source={source}: there is no file {path}.")
        _check(path, remote)
    return paths


def _check(path: Path, remote: Remote) -> None:
    """A ValueError where a file is not the one that its name says."""
    if remote.sha256 is not None:
        found = digest(path, "sha256")
        if found != remote.sha256:
            raise ValueError(
                f"{path}: its sha256 is {found}, but that of {remote.name} is {remote.sha256}: "
                "it is another file, or broken."
            )


def _files_there(name: str, origin: Origin, download: bool) -> list[Path]:
    """The original files in the cache folder, fetched if they may be."""
    for remote in origin.files:
        path = folder() / remote.name
        if path.exists():
            _check(path, remote)
            continue
        if not download:
            raise FileNotFoundError(
                f"{name} is not in {folder()}. load({name!r}, download=True) fetches it.\n"
                + _instructions(origin)
            )
        try:
            fetch(remote, path)
        except OSError as error:
            raise OSError(
                f"{name} could not be fetched. {error}\n{_instructions(origin)}"
            ) from error
    return [folder() / remote.name for remote in origin.files]


def _instructions(origin: Origin) -> str:
    """Where to get the files and where to put them."""
    lines = ["To download by other means, and put there, or name with source=:"]
    for remote in origin.files:
        page = f" (see {remote.page})" if remote.page else ""
        lines.append(f"    {remote.url}{page}\n        to {folder() / remote.name}")
    return "\n".join(lines)
