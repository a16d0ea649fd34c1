"""The paper's Table 2: what the initialisation is worth, ``python -m experiments.table2``.

For each data set, number of clusters k and seed, each method chooses initial centers and
``SphericalKMeans`` runs to convergence. Seed s stands for ``random_state=s``.

The objective is ``inertia_``, the sum of squared distances of the unit rows to their unit centers;
the paper says "sum of variances". The relative change of a method is

    (mean over the seeds of its objective) / (mean over the seeds of uniform's objective) - 1,

so lower is better, and uniform itself has 0. Means are taken before the quotient. All-zero rows
are in no cluster and not in the objective. A k that is more than the other rows is left out.

In the folder of ``--out``:

- ``table2_runs.csv``: a line for each run, written as soon as it is done. A run that is there
  already is not done again, so the same command resumes an interrupted experiment. Results of
  another version of arcmeans or of other data under the same name belong in another folder.
- ``table2.csv``: the relative changes in full precision, with their standard errors.
- ``table2.md``: the same to read, the paper's figures beside ours for its data sets.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import machine

from . import paper, relative, sources
from .seedings import METHODS, MORE_METHODS, Plan, perform


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _arguments(argv)
    runs_file = arguments.out / "table2_runs.csv"
    try:
        plan = Plan(
            list(sources.loaded(arguments.data, arguments.rows)),
            arguments.k,
            METHODS + MORE_METHODS * arguments.all_methods,
            arguments.seeds,
            arguments.threads,
        )
        runs = perform(plan, runs_file)
    except KeyboardInterrupt:
        print(
            f"Interrupted. What is done is in {runs_file}; the same command goes on from there.",
            file=sys.stderr,
        )
        return 130
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    changes = relative.changes(runs)
    relative.write(changes, arguments.out / "table2.csv")
    text = report(plan, changes)
    (arguments.out / "table2.md").write_text(text, encoding="utf-8")
    print(text)
    return 0


def report(plan: Plan, changes: Sequence[relative.Change]) -> str:
    """The tables, in Markdown."""
    head = f"""# Objective against uniform initialisation

In percent, mean over {plan.seeds} seeds; lower is better, the best of a column in bold. In
parentheses the figures of Table 2 in Schubert, Lang and Feher, "Accelerating Spherical k-Means",
SISAP 2021, where the data set has one of its names.

Ran on: {machine.describe(plan.n_threads)}
"""
    return "\n".join([head, *(relative.section(data, changes) for data in plan.data_sets)])


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m experiments.table2", description="The paper's Table 2, made again."
    )
    parser.add_argument(
        "--data",
        nargs="+",
        type=sources.source,
        metavar="PATH[=NAME]",
        help=".npz or .npy, and what to call it (generated text). A name of the paper's Table 1 "
        "brings the paper's figures: " + ", ".join(paper.table1()),
    )
    parser.add_argument("--rows", type=_positive, help="take the first ROWS rows (all)")
    parser.add_argument("--k", nargs="+", type=_positive, default=paper.CLUSTERS, metavar="K")
    parser.add_argument("--seeds", type=_positive, default=10, help="how many (10)")
    parser.add_argument("--threads", type=_positive, help="for each run (all processors)")
    parser.add_argument(
        "--all-methods",
        action="store_true",
        help="arcmeans' own seedings too, not only the paper's",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results"), metavar="DIR", help="for the files (results)"
    )
    arguments = parser.parse_args(argv)
    arguments.k = sorted(set(arguments.k))
    arguments.data = arguments.data or [sources.GENERATED]
    try:
        sources.check_names(arguments.data)
    except ValueError as error:
        parser.error(str(error))
    return arguments


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} should be at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
