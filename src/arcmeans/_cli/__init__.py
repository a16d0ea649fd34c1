"""The command ``arcmeans``: texts or a matrix in, clusters and a page to look at out.

One file a command; ``sources`` reads what a command is given, ``output`` writes what it makes, and
``report`` makes the page. Needs the extra ``cli``, and says so where it is missing.
"""

import sys

NEEDED = ("click", "rich", "safetensors")
"""Without these no command works; others are asked for where they are needed."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    try:
        from .app import run
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        print(
            f"arcmeans: the command line needs {error.name}, which is not installed: "
            "pip install 'arcmeans[cli]'",
            file=sys.stderr,
        )
        return 1
    return run(arguments)
