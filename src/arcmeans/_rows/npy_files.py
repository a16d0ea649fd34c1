"""Arrays in ``.npy`` files: one that grows as it is written, and one that is mapped for reading."""

import math
import mmap
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

_SPACE = 128
"""Bytes for the header of a file that grows; it is written again when its length is known."""


class GrowingArray:
    """An array that is appended to."""

    def __init__(self, folder: Path, name: str, dtype: Any, width: int | None = None) -> None:
        self._file: IO[bytes] = (folder / f"{name}.npy").open("wb")
        self._file.write(bytes(_SPACE))
        self._dtype, self._width = np.dtype(dtype), width
        self.length = 0

    def append(self, array: NDArray[Any]) -> None:
        np.ascontiguousarray(array, self._dtype).tofile(self._file)
        self.length += len(array)

    def close(self) -> None:
        shape = (self.length,) if self._width is None else (self.length, self._width)
        fields = {"descr": self._dtype.str, "fortran_order": False, "shape": shape}
        text = repr(fields).encode("latin1")
        text += b" " * (_SPACE - 11 - len(text)) + b"\n"
        self._file.seek(0)
        self._file.write(npy.magic(1, 0) + len(text).to_bytes(2, "little") + text)
        self._file.close()


class MappedArray:
    """An array mapped into memory, with a say in what stays there."""

    def __init__(self, path: Path, dtype: str, shape: tuple[int, ...]) -> None:
        with path.open("rb") as file:
            if npy.read_magic(file) != (1, 0):
                raise ValueError(f"{path.name} is of another version of the .npy format")
            found, fortran, stored = npy.read_array_header_1_0(file)
            if (found, fortran, stored) != (shape, False, np.dtype(dtype)):
                raise ValueError(
                    f"{path.name} holds {stored} of shape {found}, not {dtype} of shape {shape}"
                )
            self._begin = file.tell()
            size = math.prod(shape) * stored.itemsize
            there = path.stat().st_size - self._begin
            if there != size:
                raise ValueError(f"{path.name} has {there} bytes of data, not {size}")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        flat = np.frombuffer(self._map, stored, math.prod(shape), self._begin)
        self.array: NDArray[Any] = flat.reshape(shape)

    def will_read(self, begin: int, end: int) -> None:
        """Elements that will be read next: the system may fetch them meanwhile."""
        self._advise("MADV_WILLNEED", begin, end)

    def have_read(self, begin: int, end: int) -> None:
        """Elements that are not needed for now: they leave the memory of this process, and stay
        in the page cache while the system has room."""
        self._advise("MADV_DONTNEED", begin, end)

    def _advise(self, advice: str, begin: int, end: int) -> None:
        option = getattr(mmap, advice, None)
        width = self.array.itemsize * math.prod(self.array.shape[1:])
        first = (self._begin + begin * width) // mmap.PAGESIZE * mmap.PAGESIZE
        length = self._begin + end * width - first
        if option is not None and length > 0:
            self._map.madvise(option, first, length)
