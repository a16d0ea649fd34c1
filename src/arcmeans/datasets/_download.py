"""Fetching files: with progress, going on where an earlier try broke off, and checked at the end.

The bytes that have come are in ``NAME.part``. The server is asked for the other bytes only if its
file is still the same: the tag of the file (ETag or time of change) is kept in ``NAME.part.tag``.
"""

import hashlib
import http.client
import os
import re
import time
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._support.progress import ByteProgress

TRIES = 5
PAUSE = 1.0
"""Seconds before the second try, and twice as many before each one more."""
TIMEOUT = 60.0
CHUNK = 1 << 18


@dataclass(frozen=True)
class Remote:
    """A file to be had."""

    name: str
    url: str
    sha256: str | None = None
    md5_url: str | None = None
    """Where its MD5 sum is published."""
    page: str | None = None
    """Where a person would look for it."""


def fetch(remote: Remote, path: Path) -> None:
    """Bring a file to its place.

    Raises OSError if it cannot be had, and ValueError if it is not what its checksum says; then
    what had come is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    algorithm, expected = _published(remote)
    for number in range(TRIES):
        try:
            _continue(remote, part)
            break
        except urllib.error.HTTPError as error:
            raise OSError(f"{remote.url}: {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            if number == TRIES - 1:
                kept = part.stat().st_size if part.exists() else 0
                raise OSError(
                    f"{remote.url}: {getattr(error, 'reason', None) or error!r} after {TRIES} "
                    f"tries. {kept:,} bytes are kept; the next try goes on from there."
                ) from error
            time.sleep(PAUSE * 2**number)
    if expected is not None:
        found = digest(part, algorithm)
        if found != expected:
            _forget(part)
            raise ValueError(
                f"{remote.url}: the file that came has {algorithm} {found}, but {expected} is "
                "published for it. It was removed; try again."
            )
    os.replace(part, path)
    _forget(part)


def digest(path: Path, algorithm: str) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def _published(remote: Remote) -> tuple[str, str | None]:
    if remote.md5_url is None:
        return "sha256", remote.sha256
    try:
        with urllib.request.urlopen(remote.md5_url, timeout=TIMEOUT) as answer:
            text = answer.read(1000).decode("ascii", "replace")
    except urllib.error.URLError as error:
        raise OSError(f"{remote.md5_url}: {error.reason}") from error
    found = re.match(r"\s*([0-9a-fA-F]{32})\b", text)
    if found is None:
        raise ValueError(f"{remote.md5_url}: {text[:60]!r} should begin with an MD5 sum.")
    return "md5", found[1].lower()


def _continue(remote: Remote, part: Path) -> None:
    """Fetch what is missing; OSError where the connection ends before the file does."""
    tag_file = part.with_name(part.name + ".tag")
    have = part.stat().st_size if part.exists() else 0
    tag = tag_file.read_text() if have and tag_file.exists() else ""
    headers = {"User-Agent": "arcmeans"}
    if tag:
        headers |= {"Range": f"bytes={have}-", "If-Range": tag}
    try:
        answer = urllib.request.urlopen(
            urllib.request.Request(remote.url, headers=headers), timeout=TIMEOUT
        )
    except urllib.error.HTTPError as error:
        if error.code != 416:  # nothing after what is there: it is whole, or not of this file
            raise
        if error.headers.get("Content-Range") == f"bytes */{have}":
            return
        _forget(part)
        raise OSError("the server has less than had come") from error
    with answer:
        begin = _first_byte(answer)
        if begin not in (0, have):
            raise OSError(f"the server sent bytes from {begin}, not from {have}")
        tag = answer.headers.get("ETag", "")
        if not tag or tag.startswith("W/"):  # a weak tag cannot be asked for
            tag = answer.headers.get("Last-Modified", "")
        tag_file.write_text(tag)
        length = answer.headers.get("Content-Length")
        total = None if length is None else begin + int(length)
        _receive(answer, part, begin, total, remote.name)


def _first_byte(answer: Any) -> int:
    if answer.status != 206:
        return 0
    found = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", ""))
    if found is None:
        raise OSError("the server sent a part and does not say which")
    return int(found[1])


def _receive(answer: Any, part: Path, begin: int, total: int | None, name: str) -> None:
    progress = ByteProgress(name, total, begin)
    try:
        with part.open("r+b" if begin else "wb") as file:
            file.seek(begin)
            while chunk := answer.read(CHUNK):
                file.write(chunk)
                progress.to(file.tell())
            got = file.tell()
    finally:
        progress.end()
    if total is not None and got < total:
        raise OSError(f"the connection ended after {got:,} of {total:,} bytes")


def _forget(part: Path) -> None:
    for path in (part, part.with_name(part.name + ".tag")):
        with suppress(FileNotFoundError):
            path.unlink()
