"""Runs of the experiments on small data, and what they wrote."""

import csv
import re
from pathlib import Path

from experiments import (
    command,
    table2,
)
from experiments.fits import Fit
from experiments.paper import Method

ROOT = Path(__file__).parents[2]

UNIFORM = Method("uniform", None)

METHODS = [
    UNIFORM,
    Method("k-means++", 1.0),
    Method("k-means++", 1.5),
    Method("afk-mc2", 1.0),
    Method("afk-mc2", 1.5),
]

RUN_COLUMNS = (
    "data,rows,columns,k,algorithm,update,dtype,threads,method,alpha,seed,repeat,inertia,"
    "iterations,similarities,center_similarities,cpu_seconds,seconds,machine"
)

RUNS = 2 * 2 * 5  # k, seeds, methods


def run(file, out, *more, experiment=table2):
    arguments = ["--data", str(file), "--k", "2", "3", "--seeds", "2", "--repeats", "2"]
    return command.main(experiment.EXPERIMENT, [*arguments, "--out", str(out), *more])


def lines(path):
    with path.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def table(path, which=-1):
    """A table of a Markdown file, the last one unless told, by label."""
    blocks = re.findall(r"(?:^\|.*\n)+", path.read_text("utf-8"), re.MULTILINE)
    rows = [line.strip("|").split(" | ") for line in blocks[which].splitlines()]
    return {row[0].strip(): [cell.strip(" |") for cell in row[1:]] for row in rows}


def as_fit(method, seed, inertia, name="mine", k=2):
    setting = (name, 5, 4, k, "auto", "tight", "float32", 1, method.name, method.alpha, seed, 0)
    return Fit(*setting, inertia, 3, 30, 0, 0.1, 0.1, "here")
