"""Every experiment on small data: what its table and its figure say."""

import re
import runpy
import sys
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

import experiments.__main__ as everything
from arcmeans import SphericalKMeans
from arcmeans._algorithms.options import HAMERLY_UPDATES
from arcmeans._algorithms.registry import ALGORITHMS
from experiments import (
    command,
    figure1,
    figure2,
    hamerly,
    markdown,
    memory,
    precision,
    table1,
    table2,
    table3,
    threads,
)

from ..support.marks import measures_memory
from ..support.tables import METHODS, ROOT, RUN_COLUMNS, RUNS, UNIFORM, as_fit, lines, run, table


def test_relative_change_is_of_the_means():
    plus = METHODS[1]
    of_both = [as_fit(UNIFORM, 0, 10.0), as_fit(plus, 0, 9.0)]
    of_both += [as_fit(UNIFORM, 1, 30.0), as_fit(plus, 1, 33.0)]
    uniform, changed = table2.changes(of_both, {"mine": None})
    assert (uniform.inertia, uniform.relative_change, uniform.standard_error) == (20.0, 0.0, None)
    assert (changed.method, changed.alpha, changed.k, changed.seeds) == ("k-means++", 1.0, 2, 2)
    assert changed.inertia == 21.0
    assert changed.relative_change == pytest.approx(0.05)  # not the mean of -10 % and +10 %
    # Variances 200 and 288, of the means 100 and 144; the ratio is 1.05.
    assert changed.standard_error == pytest.approx((144 + 1.05**2 * 100) ** 0.5 / 20)
    assert changed.paper is None


def test_paper_figures_stand_beside_those_of_the_same_name():
    of_news = [as_fit(m, 0, 10.0, "X", k) for m in METHODS for k in (3, 200)]
    found = {
        (change.method, change.alpha, change.k): change.paper
        for change in table2.changes(of_news, {"X": "20 Newsgroups"})
    }
    assert found["k-means++", 1.0, 200] == pytest.approx(0.0734)
    assert found["k-means++", 1.0, 3] is None


def test_percents_mark_the_best_as_shown():
    assert markdown.percents([0.0, -0.0012, 0.07341, -0.00121, None]) == [
        "0.00",
        "**-0.12**",
        "+7.34",
        "**-0.12**",
        "–",
    ]
    assert markdown.percents([-0.00001, 0.001]) == ["**0.00**", "+0.10"]


def test_numbers_mark_the_least_as_shown():
    assert markdown.numbers([0.01234, 1.2351, 123.4, 12345.6, None]) == [
        "**0.0123**",
        "1.24",
        "123",
        "12,346",
        "–",
    ]
    assert markdown.numbers([1.001, 1.002]) == ["**1.00**", "**1.00**"]


def test_markdown_escapes_bars():
    assert "| k-means\\|\\| |" in markdown.table(["", "k=2"], [["k-means||", "1"]])


def test_files(file, tmp_path, capsys):
    assert run(file, tmp_path) == 0
    assert "small: 2 of 62 rows are all zero" in capsys.readouterr().err

    runs = lines(tmp_path / "runs.csv")
    assert ",".join(runs[0]) == RUN_COLUMNS
    keys = {(run["k"], run["method"], run["alpha"], run["seed"]) for run in runs}
    assert len(keys) == len(runs) == RUNS
    assert {(run["data"], run["rows"], run["columns"]) for run in runs} == {("small", "62", "80")}

    changes = lines(tmp_path / "table2.csv")
    names = "data,rows,columns,k,method,alpha,seeds,inertia,relative_change,standard_error,paper"
    assert ",".join(changes[0]) == names
    assert len(changes) == 2 * 5

    assert list(table(tmp_path / "table2.md")) == ["", "-" * 15, *map(str, METHODS)]
    assert "instruction set" in (tmp_path / "table2.md").read_text("utf-8")


def test_fits_are_those_of_the_estimator(file, tmp_path):
    run(file, tmp_path)
    run(file, tmp_path, experiment=table3)
    X = sp.load_npz(file)
    for line in lines(tmp_path / "runs.csv"):
        init, alpha = line["method"], float(line["alpha"] or 1)
        model = SphericalKMeans(
            int(line["k"]),
            init="random" if init == "uniform" else init,
            algorithm=line["algorithm"],
            alpha=alpha,
            random_state=int(line["seed"]),
            n_threads=1,
        )
        with pytest.warns(UserWarning, match="rows are all zero"):
            model.fit(X)
        assert float(line["inertia"]) == model.inertia_
        assert int(line["iterations"]) == model.n_iter_
        assert int(line["similarities"]) == model.trace_["similarities"].sum()


def test_paper_name_in_any_case(file, tmp_path):
    assert run(f"{file}=20 newsgroups", tmp_path, "--k", "2") == 0
    cells = table(tmp_path / "table2.md")
    assert cells["k-means++ α=1.5"][0].endswith("(+0.72)")
    assert cells["uniform"][0].endswith("(**0.00**)")
    text = (tmp_path / "table2.md").read_text("utf-8")
    assert "### 20 Newsgroups: 62 × 80 (in the paper 11,314 × 101,631)" in text


def test_all_methods(file, tmp_path):
    run(file, tmp_path, "--all-methods", "--k", "2")
    assert {"greedy-k-means++", "k-means||"} < {
        line["method"] for line in lines(tmp_path / "table2.csv")
    }


def test_k_above_the_rows_is_left_out(file, tmp_path):
    assert run(file, tmp_path, "--rows", "12", "--k", "2", "13", "--seeds", "1") == 0
    assert {line["k"] for line in lines(tmp_path / "runs.csv")} == {"2"}


@pytest.mark.parametrize("experiment", [table2, table3, figure1, hamerly, precision, threads])
def test_too_few_rows_for_any_k(experiment, file, tmp_path, capsys):
    words = ["--rows", "12", "--k", "13"]
    assert run(file, tmp_path, *words, experiment=experiment) == 2
    assert "k=13 is more than the rows of every data set." in capsys.readouterr().err


def test_a_data_set_of_too_few_rows_is_left_out(file, tmp_path):
    np.save(tmp_path / "two.npy", np.eye(2))
    words = ["--data", str(tmp_path / "two.npy"), str(file), "--k", "3"]
    assert run(file, tmp_path, *words, experiment=table3) == 0
    assert {line["data"] for line in lines(tmp_path / "table3.csv")} == {"small"}


def test_table1(file, tmp_path):
    named = f"{file}=Mine for Reuters RCV-1"
    assert run(named, tmp_path, experiment=table1) == 0
    (line,) = lines(tmp_path / "table1.csv")
    assert (line["rows"], line["columns"], line["zero_rows"]) == ("62", "80", "2")
    assert (line["paper_data"], line["paper_rows"]) == ("Reuters RCV-1", "804414")
    cells = table(tmp_path / "table1.md")["Mine for Reuters RCV-1"]
    assert cells[-1] == "Reuters RCV-1: 804,414 × 47,236, 0.160 %"


def test_table3(file, tmp_path):
    assert run(f"{file}=20 Newsgroups", tmp_path, experiment=table3) == 0
    found = lines(tmp_path / "table3.csv")
    assert Counter(line["algorithm"] for line in found) == dict.fromkeys(ALGORITHMS, 2)
    for line in found:
        share = float(line["share"])
        assert share == 1 if line["algorithm"] == "lloyd" else share > 0
        assert int(line["seeds"]) == 2
        assert float(line["cpu_seconds"]) >= float(line["least_cpu_seconds"]) > 0
    simple = {line["k"]: line for line in found if line["algorithm"] == "simplified-elkan"}
    assert float(simple["2"]["paper_seconds"]) == 0.118
    assert simple["3"]["paper_seconds"] == ""
    text = (tmp_path / "table3.md").read_text("utf-8")
    assert re.search(r"\| simplified-elkan +\|.*\(118\) \|", text)
    assert table(tmp_path / "table3.md")["lloyd (Standard)"] == ["100", "100"]


def test_figure1(file, tmp_path):
    assert run(file, tmp_path, experiment=figure1) == 0
    traces = lines(tmp_path / "figure1_runs.csv")
    assert len(traces) == 2 * len(ALGORITHMS)
    steps = lines(tmp_path / "figure1.csv")
    assert {line["k"] for line in steps} == {"3"}  # the largest asked for
    for algorithm in ALGORITHMS:
        own = [line for line in steps if line["algorithm"] == algorithm]
        repeats = [t for t in traces if t["algorithm"] == algorithm]
        assert [int(s["iteration"]) for s in own] == list(range(1, len(own) + 1))
        assert len(own) == int(repeats[0]["iterations"])
        together = int(repeats[0]["similarities"]) + int(repeats[0]["center_similarities"])
        assert int(own[-1]["cumulative_similarities"]) == together
        for i, step in enumerate(own):
            each = [float(t["step_seconds"].split()[i]) for t in repeats]
            assert float(step["cpu_seconds"]) == min(each)


def test_figure2_takes_the_transposes_of_counts(file, counts, tmp_path):
    names = [str(file), f"{counts}=A for DBLP Author-Conference"]
    assert run(names[0], tmp_path, "--data", *names, experiment=figure2) == 0
    shapes = {(line["data"], line["rows"]) for line in lines(tmp_path / "figure2.csv")}
    n, d = sp.load_npz(counts).shape
    assert shapes == {
        ("A for DBLP Author-Conference", str(n)),
        ("A transposed for DBLP Conference-Author", str(d)),
    }
    ratios = table(tmp_path / "figure2.md")["hamerly, A transposed for DBLP Conference-Author"]
    assert re.fullmatch(r"\d+\.\d\d \(1\.00\)", ratios[0])  # 944 and 944 ms in the paper
    assert run(names[1], tmp_path, experiment=table3) == 0  # takes the same fits
    assert len(lines(tmp_path / "runs.csv")) == 2 * 2 * 2 * len(ALGORITHMS)


def test_hamerly_updates(file, tmp_path):
    assert run(file, tmp_path, experiment=hamerly) == 0
    found = {(line["update"], line["k"]): line for line in lines(tmp_path / "hamerly.csv")}
    assert {update for update, _ in found} == set(HAMERLY_UPDATES)
    for k in ("2", "3"):
        shares = [float(found[update, k]["share"]) for update in ("tight", "eq8", "eq9")]
        assert shares[0] <= min(shares[1:])
    of_all = {line["inertia"] for line in lines(tmp_path / "runs.csv") if line["k"] == "3"}
    assert len(of_all) == 2  # seeds: no update changes the result
    assert sum(float(f["share"]) for f in found.values() if f["update"] == "tight") < sum(
        float(f["share"]) for f in found.values() if f["update"] == "eq9"
    )


def test_precision_begins_from_the_same_rows(file, tmp_path):
    assert run(file, tmp_path, experiment=precision) == 0
    runs = lines(tmp_path / "runs.csv")
    assert {line["dtype"] for line in runs} == {"float32", "float64"}
    found = lines(tmp_path / "precision.csv")
    assert all(abs(float(line["objective_change"])) < 1e-6 for line in found)
    assert all(line["same_iterations"] == "2" for line in found)


@pytest.mark.threads
def test_threads(file, tmp_path):
    words = ["--threads", "3", "--repeats", "1", "--algorithms", "lloyd", "hamerly"]
    assert run(file, tmp_path, *words, experiment=threads) == 0
    runs = lines(tmp_path / "runs.csv")
    assert {line["threads"] for line in runs} == {"1", "2", "3"}
    assert len({line["inertia"] for line in runs}) == 1
    assert len(lines(tmp_path / "threads.csv")) == 3 * 2
    assert threads.numbers_of_threads(1) == [1]
    assert threads.numbers_of_threads(8) == [1, 2, 4, 8]


@measures_memory
def test_memory(tmp_path):
    options = ["--rows", "20000", "--k", "50", "--out", str(tmp_path), "--algorithms"]
    options += ["lloyd", "elkan", "simplified-hamerly"]
    assert command.main(memory.EXPERIMENT, options) == 0
    found = {(line["data"], line["algorithm"]): line for line in lines(tmp_path / "memory.csv")}
    conference = found["DBLP Author-Conference", "elkan"]
    assert float(conference["paper_bytes"]) == 2e9
    assert int(conference["formula_bytes"]) == 1_842_986 * (8 + 4 * 100) + 4 * 100**2
    assert int(found["DBLP Author-Conference", "lloyd"]["formula_bytes"]) == 0
    elkan = found["generated text", "elkan"]
    assert float(elkan["measured_bytes"]) == pytest.approx(float(elkan["formula_bytes"]), rel=0.5)
    before = (tmp_path / "memory_runs.csv").read_bytes()
    assert command.main(memory.EXPERIMENT, options) == 0
    assert (tmp_path / "memory_runs.csv").read_bytes() == before


def test_every_artefact_from_generated_data(tmp_path, monkeypatch, figures):
    """``make reproduce-small``, with less of everything."""
    monkeypatch.setattr(everything, "SMALL", {"k": [2, 3], "seeds": 1, "repeats": 1})
    page = tmp_path / "page.md"
    marks = [f"<!-- {name} -->\nstale text\n<!-- /{name} -->\n" for name in everything.EXPERIMENTS]
    page.write_text("# Page\n" + "\n".join(marks), encoding="utf-8")
    words = ["--small", "--rows", "400", "--out", str(tmp_path / "out"), "--page", str(page)]
    assert everything.main(words) == 0
    for name, experiment in everything.EXPERIMENTS.items():
        base = tmp_path / "out" / name
        assert len(lines(base.with_suffix(".csv"))) > 0
        text = base.with_suffix(".md").read_text("utf-8")
        assert text.startswith(f"# {experiment.title}\n")
        assert f"![{experiment.title}]({name}.svg)" in text
        assert "| " in text
        assert "Made on: " in text
        assert ("Fits ran on: " in text) == (name not in ("table1", "memory"))
        assert b"<svg" in base.with_suffix(".svg").read_bytes()[:2000]
        assert base.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    filled = page.read_text("utf-8")
    assert filled.startswith("# Page\n")
    assert "stale text" not in filled
    assert "(out/table3.svg)" in filled
    everything.fill(page, tmp_path / "out", list(everything.EXPERIMENTS))
    assert page.read_text("utf-8") == filled  # filling again changes nothing


def test_the_page_in_the_docs_has_a_place_for_each():
    docs = ROOT / "docs"
    text = (docs / "reproduction.md").read_text("utf-8")
    for name in everything.EXPERIMENTS:
        made = text.split(f"<!-- {name} -->\n")[1].split(f"<!-- /{name} -->")[0]
        assert "| " in made
        assert f"](reproduction/{name}.svg)" in made
        assert (docs / "reproduction" / f"{name}.svg").exists()


def test_a_page_without_the_place(file, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("nothing")
    words = ["table1", "--data", str(file), "--out", str(tmp_path), "--page", str(page)]
    assert everything.main(words) == 2
    assert "there should be one <!-- table1 -->" in capsys.readouterr().err
    assert page.read_text() == "nothing"


def test_unknown_name(capsys):
    with pytest.raises(SystemExit, match="2"):
        everything.main(["table4"])
    assert "name 'table4' should be one of table1, table2" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("name", everything.EXPERIMENTS)
def test_every_experiment_is_a_command(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [f"experiments.{name}", "--seeds", "0"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_module(f"experiments.{name}", run_name="__main__")
    assert f"experiments.{name}: error: argument --seeds" in capsys.readouterr().err
