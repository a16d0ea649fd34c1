"""``python -m benchmarks [names...] [--data [NAME=]PATH ...] [--quick] [--full]``."""

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from . import (
    balls,
    data,
    directions,
    growth,
    lloyd,
    machine,
    peakmem,
    roofline,
    seeding,
    shares,
    short,
    table,
    targets,
    threads,
)
from .cases import CASES

NAMES = (
    "targets",
    "lloyd",
    "shares",
    "seeding",
    "growth",
    "roofline",
    "threads",
    "directions",
    "balls",
    "short",
    "peakmem",
)


def main() -> None:
    arguments = _arguments()
    print(machine.describe(1))
    if "targets" in (arguments.names or NAMES):
        _targets(arguments)
    results: dict[str, list[Any]] = {
        name: [] for name in arguments.names or NAMES if name != "targets"
    }
    measures: dict[str, Callable[[str, Any], Iterable[Any]]] = {
        "lloyd": lambda name, X: lloyd.measure(name, X, arguments.quick),
        "shares": lambda name, X: shares.measure(name, X, arguments.seeds),
        "seeding": lambda name, X: seeding.measure(name, X, arguments.quick, arguments.full),
        "growth": lambda name, X: growth.measure(name, X, arguments.quick),
        "roofline": lambda name, X: roofline.measure(name, X, arguments.quick),
        "threads": lambda name, X: threads.measure(name, X, arguments.quick),
        "short": lambda name, X: short.measure(name, X, arguments.quick),
    }
    if "roofline" in results:
        print("\nbandwidth")
        levels = list(roofline.bandwidth())
        table.show(levels)
        table.write(levels, arguments.csv / "bandwidth.csv")
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
        directions.conclude(results["directions"])
    if "balls" in results:
        print("\nballs")
        results["balls"] = list(balls.measure(arguments.quick))
        table.show(results["balls"])
    if "peakmem" in results:
        print("\npeakmem")
        results["peakmem"] = list(peakmem.measure(50_000 if arguments.quick else 200_000, 100))
        table.show(results["peakmem"])
    for benchmark, records in results.items():
        table.write(records, arguments.csv / f"{benchmark}.csv")
    if results.get("growth"):
        growth.draw(results["growth"], arguments.csv / "growth")


def _targets(arguments: argparse.Namespace) -> None:
    """Each line as it comes, then the whole table: it takes a while."""
    print("\ntargets")
    records = []
    repeats = arguments.repeats or (2 if arguments.full else 1)
    for record in targets.measure(dict(arguments.data or ()), arguments.full, repeats):
        print(
            f"{record.data} k={record.k}: auto {record.auto:.2f} s, "
            f"{record.loop_ratio:.1f} x loop, {record.scikit_learn_ratio:.1f} x scikit-learn, "
            f"{record.lloyd_ratio:.2f} x lloyd",
            flush=True,
        )
        records.append(record)
        table.write(records, arguments.csv / "targets.csv")
    table.show(records)
    targets.conclude(records)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Compare with peers.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(NAMES)} (all)")
    parser.add_argument(
        "--data",
        nargs="+",
        type=_named,
        metavar="[NAME=]PATH",
        help=".npz or .npy (generated text); targets takes files by the names "
        + ", ".join(case.name for case in CASES),
    )
    parser.add_argument("--rows", type=int, help="take the first ROWS rows of a file (all)")
    parser.add_argument("--seeds", type=int, help="random seeds for shares (3; quick 1)")
    parser.add_argument("--quick", action="store_true", help="less data, fewer repetitions")
    parser.add_argument("--repeats", type=int, help="of the fits of targets (1; full 2)")
    parser.add_argument(
        "--full",
        action="store_true",
        help="scikit-learn at every k of seeding; stand-ins of full size for targets",
    )
    parser.add_argument(
        "--csv", type=Path, default=Path("results"), metavar="DIR", help="for CSV files (results)"
    )
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in NAMES:
            parser.error(f"name {name!r} should be one of {', '.join(NAMES)}")
    for option in ("rows", "seeds", "repeats"):
        value = getattr(arguments, option)
        if value is not None and value < 1:
            parser.error(f"--{option} {value} should be at least 1")
    if "targets" in arguments.names:
        for name, _ in arguments.data or ():
            if name not in {case.name for case in CASES}:
                known = ", ".join(case.name for case in CASES)
                parser.error(f"--data {name}=... should be one of {known} for targets")
    if arguments.seeds is None:
        arguments.seeds = 1 if arguments.quick else 3
    return arguments


def _named(text: str) -> tuple[str, Path]:
    """The name of a file's data, by default its own, and its path."""
    name, equals, path = text.partition("=")
    return (name, Path(path)) if equals else (Path(text).stem, Path(text))


def _matrices(arguments: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    for name, path in arguments.data or ():
        yield name, data.load(path)[: arguments.rows]
    if not arguments.data:
        n_rows, n_features = (5_000, 10_000) if arguments.quick else (50_000, 30_000)
        yield "generated", data.generated(n_rows, n_features, nnz_per_row=60)


def _show_matrix(name: str, X: Any) -> None:
    filled = f"{X.nnz:,} entries" if sp.issparse(X) else "dense"
    print(f"\n== {name}: {X.shape[0]:,} x {X.shape[1]:,}, {filled}, {X.dtype}")


if __name__ == "__main__":
    main()
