"""``python -m benchmarks [names...] [--data PATH ...] [--quick]``."""

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from . import data, directions, lloyd, machine, peakmem, seeding, shares, table

NAMES = ("lloyd", "shares", "seeding", "directions", "peakmem")


def main() -> None:
    arguments = _arguments()
    print(machine.describe(1))
    results: dict[str, list[Any]] = {name: [] for name in arguments.names or NAMES}
    measures: dict[str, Callable[[str, Any], Iterable[Any]]] = {
        "lloyd": lambda name, X: lloyd.measure(name, X, arguments.quick),
        "shares": lambda name, X: shares.measure(name, X, arguments.seeds),
        "seeding": lambda name, X: seeding.measure(name, X, arguments.quick, arguments.full),
    }
    on_data = [name for name in measures if name in results]
    for name, X in _matrices(arguments) if on_data else ():
        _show_matrix(name, X)
        for benchmark in on_data:
            records = list(measures[benchmark](name, X))
            print(f"\n{benchmark}")
            table.show(records)
            results[benchmark] += records
    if "directions" in results:
        print("\ndirections")
        results["directions"] = list(directions.measure(arguments.quick))
        table.show(results["directions"])
    if "peakmem" in results:
        print("\npeakmem")
        results["peakmem"] = list(peakmem.measure(50_000 if arguments.quick else 200_000, 100))
        table.show(results["peakmem"])
    for benchmark, records in results.items():
        table.write(records, arguments.csv / f"{benchmark}.csv")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Compare with peers.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(NAMES)} (all)")
    parser.add_argument(
        "--data", nargs="+", type=Path, metavar="PATH", help=".npz or .npy (generated text)"
    )
    parser.add_argument("--rows", type=int, help="take the first ROWS rows of a file (all)")
    parser.add_argument("--seeds", type=int, help="random seeds for shares (3; quick 1)")
    parser.add_argument("--quick", action="store_true", help="less data, fewer repetitions")
    parser.add_argument("--full", action="store_true", help="scikit-learn at every k of seeding")
    parser.add_argument(
        "--csv", type=Path, default=Path("results"), metavar="DIR", help="for CSV files (results)"
    )
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in NAMES:
            parser.error(f"name {name!r} should be one of {', '.join(NAMES)}")
    for option in ("rows", "seeds"):
        value = getattr(arguments, option)
        if value is not None and value < 1:
            parser.error(f"--{option} {value} should be at least 1")
    if arguments.seeds is None:
        arguments.seeds = 1 if arguments.quick else 3
    return arguments


def _matrices(arguments: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    for path in arguments.data or ():
        yield path.stem, data.load(path)[: arguments.rows]
    if not arguments.data:
        n_rows, n_features = (5_000, 10_000) if arguments.quick else (50_000, 30_000)
        yield "generated", data.generated(n_rows, n_features, nnz_per_row=60)


def _show_matrix(name: str, X: Any) -> None:
    filled = f"{X.nnz:,} entries" if sp.issparse(X) else "dense"
    print(f"\n== {name}: {X.shape[0]:,} x {X.shape[1]:,}, {filled}, {X.dtype}")


if __name__ == "__main__":
    main()
