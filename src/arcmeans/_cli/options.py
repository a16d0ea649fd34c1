"""Options that several commands share, and the parameters that they become."""

import codecs
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from .._algorithms.registry import ALGORITHMS
from .._seeding.methods import METHODS
from .console import Console, PipeClosedError, UserError
from .documents import TextOptions
from .text_files import stop_word_file
from .vectorizer import Pruning, TextVectorizer, stop_words_of, tokens_of

Command = TypeVar("Command", bound=Callable[..., Any])


class Frequency(click.ParamType):  # type: ignore[type-arg]
    """A number of documents, or a share of them."""

    name = "N|SHARE"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | float:
        if isinstance(value, int | float):
            return value
        try:
            number = float(value) if "." in value else int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number of documents nor a share such as 0.5.")
        if number < 0 or (isinstance(number, float) and number > 1):
            self.fail(f"{value} should be a number >= 0 of documents, or a share from 0.0 to 1.0.")
        return number


class Ngrams(click.ParamType):  # type: ignore[type-arg]
    """``2`` or ``1-3``."""

    name = "N|N-M"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        first, _, last = value.replace(",", "-").partition("-")
        try:
            bounds = int(first), int(last or first)
        except ValueError:
            self.fail(f"{value!r} should be a number of words, or two such as 1-2.")
        if not 1 <= bounds[0] <= bounds[1] <= 10:
            self.fail(f"{value} should ascend, from 1 to 10 at most.")
        return bounds


class Encoding(click.ParamType):  # type: ignore[type-arg]
    name = "NAME"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        try:
            found = codecs.lookup(value)
            "\n".encode(found.name)
        except (LookupError, UnicodeError):
            self.fail(f"{value!r} is no encoding of text that Python knows.")
        return found.name


def _together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def manners(command: Command) -> Command:
    """``--quiet`` and ``--json``, handed on as a console."""

    @wraps(command)
    def wrapped(*arguments: Any, quiet: bool, as_json: bool, **options: Any) -> Any:
        console = Console(quiet=quiet, json=as_json)
        try:
            with console.warnings_shown():
                return command(*arguments, console=console, **options)
        except BrokenPipeError as error:
            raise PipeClosedError from error

    return _together(
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors."),
    )(wrapped)  # type: ignore[return-value]


reading = _together(
    click.option("--text", metavar="COLUMN", help="The column that holds the text. [text]"),
    click.option("--id", metavar="COLUMN", help="The column that names a record. [its number]"),
    click.option(
        "--encoding", type=Encoding(), default="utf-8", show_default=True, help="Of texts."
    ),
    click.option("--delimiter", metavar="CHARACTER", help="Between the columns of a CSV file. [,]"),
    click.option("--skip-errors", is_flag=True, help="Go on without what cannot be read."),
)
"""How to read a source."""

words = _together(
    click.option(
        "--min-df",
        type=Frequency(),
        help="Drop terms in fewer documents. [2, or 1 below 50 documents]",
    ),
    click.option(
        "--max-df",
        type=Frequency(),
        help="Drop terms in more documents. [0.5, or 1.0 below 50 documents]",
    ),
    click.option(
        "--ngrams",
        type=Ngrams(),
        default="1",
        show_default=True,
        help="Words in a term: 1-2 takes pairs too.",
    ),
    click.option(
        "--language",
        metavar="CODE",
        default="en",
        show_default=True,
        help="Of the texts: en, de, fr, zh ...",
    ),
    click.option(
        "--stop-words", metavar="FILE|none", help="Words to leave out. [those of --language]"
    ),
)
"""How texts become rows."""

fitting = _together(
    click.option(
        "--init",
        type=click.Choice(tuple(METHODS)),
        default="k-means++",
        show_default=True,
        help="How the first centers are chosen.",
    ),
    click.option(
        "--runs",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        metavar="N",
        help="Runs with centers of their own; the best is kept.",
    ),
    click.option(
        "--algorithm",
        type=click.Choice(("auto", *ALGORITHMS)),
        default="auto",
        show_default=True,
        help="Changes the time, never the result.",
    ),
    click.option(
        "--max-iter",
        type=click.IntRange(1),
        default=300,
        show_default=True,
        metavar="N",
        help="The most iterations of a run.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default=True,
        metavar="N",
        help="Of the random numbers.",
    ),
    click.option(
        "--threads",
        type=click.IntRange(1),
        metavar="N",
        help="Threads to use. [the processors there are]",
    ),
)
"""How to fit."""

FITTING = ("init", "runs", "algorithm", "max_iter", "seed", "threads")
READING = ("text", "id", "encoding", "delimiter", "skip_errors")
force = click.option("--force", is_flag=True, help="Replace what is at -o.")


def text_options(given: dict[str, Any]) -> TextOptions:
    """Takes the options of ``reading`` out of all that are given."""
    options = TextOptions(**{name: given.pop(name) for name in READING})
    if options.delimiter is not None and len(options.delimiter) != 1:
        if options.delimiter == "\\t":
            return TextOptions(**{**vars(options), "delimiter": "\t"})
        raise click.BadParameter(
            f"{options.delimiter!r} should be one character.", param_hint="--delimiter"
        )
    return options


def word_options(
    given: dict[str, Any], encoding: str
) -> tuple[Callable[[], TextVectorizer], Pruning]:
    """Takes the options of ``words`` out of all that are given."""
    pruning = Pruning(given.pop("min_df"), given.pop("max_df"))
    ngrams, language, stop = (given.pop(name) for name in ("ngrams", "language", "stop_words"))

    def vectorizer() -> TextVectorizer:
        if stop is None:
            found = stop_words_of(language)
        elif stop == "none":
            found = []
        else:
            found = stop_word_file(Path(stop), encoding)
        return TextVectorizer(tokens_of(language), ngrams, found)

    return vectorizer, pruning


def fit_options(given: dict[str, Any]) -> dict[str, Any]:
    """The parameters of an estimator, out of all options given."""
    init, runs, algorithm, max_iter, seed, threads = (given.pop(name) for name in FITTING)
    return {
        "init": init,
        "n_init": runs,
        "algorithm": algorithm,
        "max_iter": max_iter,
        "random_state": seed,
        "n_threads": threads,
    }


def feature_names(path: str | None, n_features: int) -> list[str] | None:
    """Names of the columns of a matrix, one a line."""
    if path is None:
        return None
    try:
        names = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 after {error.start} bytes.") from error
    if len(names) != n_features:
        raise UserError(f"{path}: {len(names):,} lines, but the matrix has {n_features:,} columns.")
    return names
