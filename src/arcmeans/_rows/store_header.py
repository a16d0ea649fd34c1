"""The header of a row store: what its files hold."""

import json
from dataclasses import asdict, dataclass

HEADER = "arcmeans-rows.json"
FORMAT = 1
"""Of the folder. A folder of another format is refused."""


@dataclass(frozen=True)
class Header:
    format: int
    kind: str
    """``sparse`` or ``dense``."""
    dtype: str
    n_rows: int
    n_features: int
    n_entries: int
    """Stored entries; for dense rows, all."""

    def arrays(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """The dtype and shape of each file."""
        if self.kind == "dense":
            return {"values": (self.dtype, (self.n_rows, self.n_features))}
        return {
            "indptr": ("int64", (self.n_rows + 1,)),
            "indices": ("int32", (self.n_entries,)),
            "data": (self.dtype, (self.n_entries,)),
            "frequency": ("int64", (self.n_features,)),
        }

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Header":
        """A ValueError, TypeError or KeyError where the text is not what ``to_json`` gives."""
        fields = json.loads(text)
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            raise ValueError(f"{HEADER} is not of format {FORMAT}")
        header = cls(**fields)
        if header.kind not in ("sparse", "dense") or header.dtype not in ("float32", "float64"):
            raise ValueError(f"{HEADER} names kind {header.kind!r} and dtype {header.dtype!r}")
        for name in ("n_rows", "n_features", "n_entries"):
            number = getattr(header, name)
            if type(number) is not int or number < 0 or header.n_rows < 1 or header.n_features < 1:
                raise ValueError(f"{HEADER} has {name}={number!r}")
        return header
