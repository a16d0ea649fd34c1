"""``python -m arcmeans.datasets NAME [--source PATH] [--download]``: build a data set."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import NAMES, folder, load


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "python -m arcmeans.datasets",
        description=f"Build a data set of the paper and keep it in {folder()} (ARCMEANS_DATA). "
        "Those from one file are built together.",
    )
    parser.add_argument("name", choices=NAMES, metavar="name", help=", ".join(NAMES))
    parser.add_argument("--source", type=Path, help="the original file, or the folder of them")
    parser.add_argument("--download", action="store_true", help="fetch files that are missing")
    arguments = parser.parse_args(argv)
    try:
        X = load(arguments.name, source=arguments.source, download=arguments.download).X
    except KeyboardInterrupt:
        print("Interrupted. A download goes on from there next time.", file=sys.stderr)
        return 130
    except (OSError, ValueError, ImportError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{arguments.name}: {X.shape[0]:,} × {X.shape[1]:,}, {X.nnz:,} entries")
    return 0


if __name__ == "__main__":
    sys.exit(main())
