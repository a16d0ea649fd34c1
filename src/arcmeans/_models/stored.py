"""``Stored``: what a model file holds, taken out as it is checked.

Every check that fails is a ValueError that names the file and says what is wrong in it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


@dataclass
class Stored:
    """What a file holds. When it is read, arrays are taken out as they are checked."""

    path: str
    header: dict[str, str] = field(default_factory=dict)
    tensors: dict[str, NDArray[Any]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    """Dimensions met so far, by name: an array that comes later has to agree."""

    def refusal(self, why: str) -> ValueError:
        return ValueError(f"{self.path}: {why}.")

    def text(self, key: str) -> str:
        if key not in self.header:
            raise self.refusal(f"the header has no {key!r}")
        return self.header[key]

    def number(self, key: str, parse: Callable[[str], Any]) -> Any:
        text = self.text(key)
        try:
            return parse(text)
        except (ValueError, OverflowError):
            raise self.refusal(f"{key}={text[:40]!r} in the header is not a number") from None

    def json(self, key: str) -> Any:
        try:
            return json.loads(self.text(key))
        except (json.JSONDecodeError, RecursionError) as error:
            raise self.refusal(f"{key} in the header is not JSON ({error})") from None

    def array(self, name: str, dtype: DTypeLike | None, *shape: str | int) -> NDArray[Any]:
        """Takes out a tensor of this type and shape; a dimension is a number or has a name."""
        if name not in self.tensors:
            raise self.refusal(f"tensor {name!r} is missing")
        array = self.tensors.pop(name)
        if dtype is not None and array.dtype != dtype:
            raise self.refusal(f"tensor {name!r} is {array.dtype}, expected {np.dtype(dtype)}")
        if len(array.shape) == len(shape):
            for size, known in zip(shape, array.shape, strict=True):
                if isinstance(size, str):
                    self.sizes.setdefault(size, known)
        expected = tuple(self.sizes.get(s, s) if isinstance(s, str) else s for s in shape)
        if array.shape != expected:
            raise self.refusal(f"tensor {name!r} has shape {array.shape}, expected {expected}")
        return array

    def check_range(self, name: str, array: NDArray[Any], least: int, end: int) -> None:
        """Refuses integers outside [least, end)."""
        wrong = (array < least) | (array >= end)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise self.refusal(f"tensor {name!r} holds {array[i]} at {i}, outside [{least}, {end})")
