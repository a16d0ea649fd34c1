"""What the experiments have in common: options, data, files written, interruption."""

import argparse
import csv
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from arcmeans import datasets
from arcmeans._algorithms.registry import ALGORITHMS
from benchmarks import machine

from . import charts, fits, paper, sources
from .fits import AnyFit
from .sources import DataSet, Source

SOURCE = """"Accelerating Spherical k-Means" by Schubert, Lang and Feher, SISAP 2021"""


@dataclass
class Options:
    """What is run; None: the experiment's own choice."""

    out: Path
    data: Sequence[Source] | None = None
    rows: int | None = None
    k: Sequence[int] | None = None
    seeds: int = 10
    repeats: int = 3
    threads: int | None = None
    algorithms: Sequence[str] = tuple(ALGORITHMS)
    all_methods: bool = False
    machines: set[str] = field(default_factory=set)
    """What the fits that were asked for ran on, now or before."""
    _loaded: dict[Source, DataSet] = field(default_factory=dict)

    def sources(self) -> list[Source]:
        if self.data is None:
            self.data = sources.standard()
        return list(self.data)

    def load(self, wanted: Sequence[Source] | None = None) -> list[DataSet]:
        """The data sets, or those wanted; each is loaded once."""
        for source in wanted or self.sources():
            if source not in self._loaded:
                self._loaded[source] = sources.loaded(source, self.rows)
        return [self._loaded[source] for source in wanted or self.sources()]

    def clustered(self) -> list[DataSet]:
        """The data sets that have rows enough for the smallest k."""
        return enough(self.load(), min(self.k or paper.CLUSTERS))

    def fits(
        self,
        tasks: Sequence[fits.Task],
        name: str,
        record: type[AnyFit] = fits.Fit,  # type: ignore[assignment]
        file: str = "runs.csv",
    ) -> list[AnyFit]:
        """The fits of an experiment: those in the file, and the others done now."""
        found = fits.perform(tasks, record, self.out / file, name)
        self.machines |= {fit.machine for fit in found}
        return found


def enough(data_sets: Sequence[DataSet], k: int) -> list[DataSet]:
    """The data sets that have as many rows as k; a ValueError where none has."""
    found = [data for data in data_sets if data.directed >= k]
    if not found:
        raise ValueError(f"k={k} is more than the rows of every data set.")
    return found


@dataclass(frozen=True)
class Artefact:
    """What comes of an experiment."""

    records: Sequence[Any]
    """Dataclasses of one kind, for the CSV file."""
    text: str
    """Markdown, without a title."""
    figure: Any
    """Of matplotlib."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure."""

    name: str
    title: str
    make: Callable[[Options], Artefact]

    def write(self, options: Options) -> None:
        """Make it and write the CSV, Markdown, SVG and PNG files."""
        options.out.mkdir(parents=True, exist_ok=True)
        with charts.styled():
            options.machines.clear()
            made = self.make(options)
            charts.save(made.figure, options.out / self.name)
        write_csv(made.records, options.out / f"{self.name}.csv")
        fits_on = "".join(f"Fits ran on: {name}. " for name in sorted(options.machines))
        text = (
            f"# {self.title}\n\n{made.text.rstrip()}\n\n![{self.title}]({self.name}.svg)\n\n"
            f"{fits_on}Made on: {machine.describe(options.threads or 1)}\n"
        )
        (options.out / f"{self.name}.md").write_text(text, encoding="utf-8")
        print(text)


def write_csv(records: Sequence[Any], path: Path) -> None:
    """All of them, in full precision."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(
            file, [field.name for field in fields(records[0])], lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(map(asdict, records))


def main(experiment: Experiment, argv: Sequence[str] | None = None) -> int:
    """The command of one experiment."""
    parser = argument_parser(f"python -m experiments.{experiment.name}", experiment.title + ".")
    return carried_out([experiment], options_from(parser.parse_args(argv), parser))


def carried_out(experiments: Sequence[Experiment], options: Options) -> int:
    """Make each; the exit status."""
    try:
        for experiment in experiments:
            experiment.write(options)
    except KeyboardInterrupt:
        print(
            f"Interrupted. What is done is in {options.out}; the same command goes on from there.",
            file=sys.stderr,
        )
        return 130
    except (OSError, ValueError, ImportError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def argument_parser(program: str, description: str) -> argparse.ArgumentParser:
    """The options that all have."""
    parser = argparse.ArgumentParser(program, description=description)
    parser.add_argument(
        "--data",
        nargs="+",
        type=sources.source,
        metavar="WHAT[^…][=NAME]",
        help="files (npz, npy, svmlight, mtx), or data sets: "
        + ", ".join(datasets.NAMES)
        + " (generated text, and 20 Newsgroups where it is in the cache). Of a file, ^ROWS takes "
        "the first rows; of counts, ^log takes 1 + ln and ^T exchanges rows and columns. A name "
        "of the paper's Table 1, alone or as in 'ACL for DBLP Author-Conference', brings the "
        "paper's figures: " + ", ".join(paper.table1()),
    )
    parser.add_argument("--rows", type=_positive, help="take the first ROWS rows (all)")
    parser.add_argument("--k", nargs="+", type=_positive, metavar="K", help="numbers of clusters")
    parser.add_argument("--seeds", type=_positive, default=10, help="of Table 2 (10)")
    parser.add_argument(
        "--repeats", type=_positive, default=3, help="seeds, or repeats, of what is timed (3)"
    )
    parser.add_argument("--threads", type=_positive, help="for each fit (1)")
    parser.add_argument(
        "--algorithms",
        nargs="+",
        choices=("auto", *ALGORITHMS),
        default=tuple(ALGORITHMS),
        metavar="A",
    )
    parser.add_argument(
        "--all-methods",
        action="store_true",
        help="Table 2: arcmeans' own seedings too, not only the paper's",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results"), metavar="DIR", help="for the files (results)"
    )
    return parser


def options_from(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> Options:
    try:
        sources.check_names(arguments.data or [])
    except ValueError as error:
        parser.error(str(error))
    names = {field.name for field in fields(Options)}
    given = {name: value for name, value in vars(arguments).items() if name in names}
    if arguments.k:
        given["k"] = sorted(set(arguments.k))
    return Options(**given)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} should be at least 1")
    return number
