"""``python -m experiments [names...]``: all tables and figures, or those named.

``--small`` makes every one of them in minutes, on whatever machine. ``--page FILE`` puts the tables
into a Markdown file, each between the comments ``<!-- NAME -->`` and ``<!-- /NAME -->``.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from . import command, figure1, figure2, hamerly, memory, precision, table1, table2, table3, threads

EXPERIMENTS = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        table1,
        table2,
        table3,
        figure1,
        figure2,
        memory,
        hamerly,
        precision,
        threads,
    )
}
SMALL = {"k": [2, 10, 20], "seeds": 2, "repeats": 2}


def main(argv: Sequence[str] | None = None) -> int:
    parser = command.argument_parser("python -m experiments", "The paper's tables and figures.")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(EXPERIMENTS) + " (all)")
    parser.add_argument(
        "--small", action="store_true", help="few k, seeds and repeats: minutes, not hours"
    )
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the tables into this file")
    arguments = parser.parse_args(argv)
    for name in arguments.names:
        if name not in EXPERIMENTS:
            parser.error(f"name {name!r} should be one of {', '.join(EXPERIMENTS)}")
    options = command.options_from(arguments, parser)
    if arguments.small:
        for name, value in SMALL.items():
            setattr(options, name, value)
    names = arguments.names or list(EXPERIMENTS)
    status = command.carried_out([EXPERIMENTS[name] for name in names], options)
    if status == 0 and arguments.page is not None:
        try:
            fill(arguments.page, options.out, names)
        except (OSError, ValueError) as error:
            print(error, file=sys.stderr)
            return 2
    return status


def fill(page: Path, out: Path, names: Sequence[str]) -> None:
    """Put what was written for each experiment between the comments that name it."""
    text = page.read_text("utf-8")
    for name in names:
        made = (out / f"{name}.md").read_text("utf-8").split("\n", 2)[2].strip()
        folder = Path(out).resolve().relative_to(page.resolve().parent).as_posix()
        made = made.replace(f"({name}.svg)", f"({folder}/{name}.svg)")
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(f"{page}: there should be one {begin.strip()} … {end}.")
        before, rest = text.split(begin)
        text = f"{before}{begin}{made}\n{end}{rest.split(end)[1]}"
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
