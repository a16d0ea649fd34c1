"""The paper's Figure 2: rows against columns, ``python -m experiments.figure2``.

The run times of Table 3 on authors by conferences (many rows, few columns) and on the transpose
(few rows, many columns), TF-IDF being taken after transposing. Of the data given, files of counts
and the DBLP author-conference data set have a transpose; a generated graph takes their place where
there are none.
"""

import sys

from . import charts, markdown
from .command import SOURCE, Artefact, Experiment, Options, main
from .sources import AUTHORS, GRAPH, Source, in_paper, partner
from .table3 import Time, label, lines, section, tasks_for, times


def make(options: Options) -> Artefact:
    pairs = _pairs(options)
    data_sets = options.load([source for pair in pairs for source in pair])
    tasks = [t for data in data_sets for t in tasks_for(data, options)]
    found = times(options.fits(tasks, "figure2"), data_sets)
    head = f"""CPU milliseconds of a fit, mean over {options.repeats} seeds; in parentheses those of
Table 3 of {SOURCE}. Below: the share of similarities computed, between centers
too, in percent of rows × k × iterations.
"""
    parts = [head, *(section(data, found) for data in data_sets)]
    for first, second in pairs:
        parts.append(_costs(first.name, second.name, found))
    figure, axes = charts.panels(len(data_sets), columns=2, height=3.2)
    for ax, data in zip(axes, data_sets, strict=True):
        lines(ax, [time for time in found if time.data == data.name], lambda t: t.cpu_seconds)
        ax.set_title(f"{data.name.partition(' for ')[0]}\n{data.rows:,} × {data.columns:,}")
        ax.set_ylabel("CPU seconds")
    charts.legend(figure, axes[0])
    return Artefact(found, "\n".join(parts), figure)


def _pairs(options: Options) -> list[tuple[Source, Source]]:
    """Data sets and their transposes; of several those for the paper's, if there are any."""
    given = options.sources()
    pairs = [
        (source, partner(source))
        for source in [s for s in given if in_paper(s.name) == AUTHORS] or given
    ]
    found = [(source, other) for source, other in pairs if other is not None]
    graph = partner(GRAPH)
    assert graph is not None
    return found or [(GRAPH, graph)]


def _costs(name: str, transposed: str, times: list[Time]) -> str:
    """What the tests between centers cost: Elkan's and Hamerly's over their simplified forms."""
    cpu = {(t.data, t.algorithm, t.k): t for t in times}
    clusters = sorted(
        {t.k for t in times if t.data == name} & {t.k for t in times if t.data == transposed}
    )
    rows = []
    for algorithm in ("elkan", "hamerly"):
        for data in (name, transposed):
            cells = []
            for k in clusters:
                full, simple = (
                    cpu.get((data, a, k)) for a in (algorithm, f"simplified-{algorithm}")
                )
                cells.append(_ratio(full, simple))
            rows.append([f"{label(algorithm)}, {data}", *cells])
    table = markdown.table(["", *(f"k={k}" for k in clusters)], rows)
    return f"Time with the tests between centers over that of the simplified form:\n\n{table}\n"


def _ratio(full: Time | None, simple: Time | None) -> str:
    if full is None or simple is None:
        return "–"
    text = f"{full.cpu_seconds / simple.cpu_seconds:.2f}"
    if full.paper_seconds and simple.paper_seconds:
        text += f" ({full.paper_seconds / simple.paper_seconds:.2f})"
    return text


EXPERIMENT = Experiment("figure2", "Figure 2: authors by conferences, and the transpose", make)

if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
