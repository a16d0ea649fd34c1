"""How each kind of attribute of a model is written to a file, and read back and checked."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._run.records import trace_array
from .stored import Stored


class Field(Protocol):
    """How an attribute of a model is written to a file, and read back and checked."""

    def write(self, stored: Stored, name: str, value: Any) -> None: ...
    def read(self, stored: Stored, name: str) -> Any: ...


@dataclass(frozen=True)
class Integer:
    """A count in the header, which may be the size of arrays that come after it."""

    size: str = ""

    def write(self, stored: Stored, name: str, value: Any) -> None:
        stored.header[name] = str(int(value))

    def read(self, stored: Stored, name: str) -> int:
        count: int = stored.number(name, int)
        if count < 0:
            raise stored.refusal(f"{name}={count} should be >= 0")
        if self.size:
            stored.sizes[self.size] = count
        return count


class Float:
    """A number in the header, in hexadecimal: every bit of it."""

    def write(self, stored: Stored, name: str, value: Any) -> None:
        stored.header[name] = float(value).hex()

    def read(self, stored: Stored, name: str) -> float:
        number: float = stored.number(name, float.fromhex)
        return number


@dataclass(frozen=True)
class Array:
    """A tensor of one type, its dimensions by name."""

    dtype: DTypeLike
    shape: tuple[str, ...]

    def write(self, stored: Stored, name: str, value: Any) -> None:
        stored.tensors[name] = np.asarray(value, self.dtype)

    def read(self, stored: Stored, name: str) -> NDArray[Any]:
        return stored.array(name, self.dtype, *self.shape)


class Labels(Array):
    """Numbers of clusters; −1 for rows without a direction."""

    def read(self, stored: Stored, name: str) -> NDArray[Any]:
        labels = super().read(stored, name)
        stored.check_range(name, labels, -1, stored.sizes["n_clusters"])
        return labels


class Trace:
    """The iterations: a tensor for each field."""

    def write(self, stored: Stored, name: str, value: Any) -> None:
        for column in value.dtype.names:
            stored.tensors[f"{name}.{column}"] = value[column]

    def read(self, stored: Stored, name: str) -> NDArray[Any]:
        dtype = trace_array([]).dtype
        columns = {
            column: stored.array(f"{name}.{column}", dtype[column], "n_iter")
            for column in dtype.names or ()
        }
        trace = np.empty(stored.sizes["n_iter"], dtype)
        for column, values in columns.items():
            trace[column] = values
        return trace


class FloatType:
    """The dtype of the rows, and so of ``cluster_centers_``."""

    def write(self, stored: Stored, name: str, value: Any) -> None:
        stored.header["dtype"] = np.dtype(value).name

    def read(self, stored: Stored, name: str) -> np.dtype[Any]:
        text = stored.text("dtype")
        if text not in ("float32", "float64"):
            raise stored.refusal(f"dtype={text[:40]!r} should be 'float32' or 'float64'")
        return np.dtype(text)


class Cache:
    """An attribute that is not stored, and is made again when it is asked for."""

    def write(self, stored: Stored, name: str, value: Any) -> None:
        pass

    def read(self, stored: Stored, name: str) -> None:
        return None
