"""``python -m arcmeans.demo``: a demonstration that needs no download and none of the extras."""

import sys

from ._demo.demonstration import WritePage
from ._demo.demonstration import main as demonstrate


def main(argv: list[str] | None = None) -> int:
    """The demonstration; returns the exit code."""
    return demonstrate(argv, page_writer)


def page_writer(output: str) -> WritePage:
    """The command line's; ends with what to install where it is not there."""
    try:
        from ._cli.demo import page_writer as command_line
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"arcmeans.demo: --output={output!r} needs {error.name}, which is not installed: "
            "pip install 'arcmeans[cli]'"
        ) from error
    return command_line(output)


if __name__ == "__main__":
    sys.exit(main())
