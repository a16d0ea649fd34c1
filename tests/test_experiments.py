"""The experiments: the paper's figures, runs that resume, and what the tables say."""

import csv
import io
from collections import Counter

import pytest
import scipy.sparse as sp

from arcmeans import SphericalKMeans
from benchmarks import data
from experiments import markdown, paper, progress, relative, seedings, table2
from experiments.paper import Method
from experiments.seedings import Run

UNIFORM = Method("uniform", None)
METHODS = [
    UNIFORM,
    Method("k-means++", 1.0),
    Method("k-means++", 1.5),
    Method("afk-mc2", 1.0),
    Method("afk-mc2", 1.5),
]
RUN_COLUMNS = "data,rows,columns,k,method,alpha,seed,inertia,iterations,seconds"
RUNS = 2 * 2 * 5  # k, seeds, methods


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A small matrix with two all-zero rows."""
    X = data.generated(60, 80, nnz_per_row=8, n_topics=4)
    path = tmp_path_factory.mktemp("data") / "small.npz"
    sp.save_npz(path, sp.vstack([X, sp.csr_matrix((2, 80), dtype=X.dtype)], format="csr"))
    return path


@pytest.fixture
def fits(monkeypatch):
    """The runs that are really done."""
    done = []
    fit = seedings.fit

    def counted(data, task, n_threads):
        done.append(task)
        return fit(data, task, n_threads)

    monkeypatch.setattr(seedings, "fit", counted)
    return done


def run(file, out, *more):
    return table2.main(
        ["--data", str(file), "--k", "2", "3", "--seeds", "2", "--out", str(out), *more]
    )


def lines(path):
    with path.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def table(path):
    """The last table of a Markdown file, by label."""
    rows = [line.strip("|").split(" | ") for line in path.read_text("utf-8").splitlines()]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows if len(row) > 1}


def as_run(method, seed, inertia, name="mine", k=2):
    return Run(name, 5, 4, k, method.name, method.alpha, seed, inertia, 3, 0.1)


# --- The paper's figures


def test_paper_sizes():
    sizes = paper.table1()
    assert len(sizes) == 6
    assert sizes["20 Newsgroups"] == (11_314, 101_631, 0.00096)
    assert sizes["Reuters RCV-1"] == (804_414, 47_236, 0.0016)


def test_paper_objectives():
    changes = paper.table2()
    assert len(changes) == 6 * 5 * 6
    assert Counter(name for name, _, _ in changes) == dict.fromkeys(paper.table1(), 30)
    assert Counter(method for _, method, _ in changes) == dict.fromkeys(METHODS, 36)
    assert Counter(k for _, _, k in changes) == dict.fromkeys((2, 10, 20, 50, 100, 200), 30)
    assert all(change == 0 for (_, method, _), change in changes.items() if method == UNIFORM)
    for name, method, k, percent in [
        ("20 Newsgroups", ("k-means++", 1.0), 200, 7.34),
        ("20 Newsgroups", ("k-means++", 1.5), 2, 0.72),
        ("Simpsons Wiki", ("afk-mc2", 1.0), 2, -0.44),
        ("DBLP Author-Conference", ("k-means++", 1.0), 200, -1.67),
        ("DBLP Author-Venue", ("afk-mc2", 1.5), 20, -0.68),
        ("DBLP Conference-Author", ("k-means++", 1.5), 50, -0.15),
        ("Reuters RCV-1", ("afk-mc2", 1.5), 200, 0.15),
    ]:
        assert changes[name, method, k] == pytest.approx(percent / 100)


def test_paper_run_times():
    seconds = paper.table3()
    assert len(seconds) == 6 * 5 * 6
    assert seconds["20 Newsgroups", "simplified-elkan", 200] == 7.891
    assert seconds["Reuters RCV-1", "lloyd", 200] == 6064.203
    assert seconds["DBLP Conference-Author", "elkan", 200] == 32.103


# --- The table


def test_relative_change_is_of_the_means():
    plus = METHODS[1]
    runs = [as_run(UNIFORM, 0, 10.0), as_run(plus, 0, 9.0)]
    runs += [as_run(UNIFORM, 1, 30.0), as_run(plus, 1, 33.0)]
    uniform, changed = relative.changes(runs)
    assert (uniform.inertia, uniform.relative_change, uniform.standard_error) == (20.0, 0.0, None)
    assert (changed.method, changed.alpha, changed.k, changed.seeds) == ("k-means++", 1.0, 2, 2)
    assert changed.inertia == 21.0
    assert changed.relative_change == pytest.approx(0.05)  # not the mean of -10 % and +10 %
    # Variances 200 and 288, of the means 100 and 144; the ratio is 1.05.
    assert changed.standard_error == pytest.approx((144 + 1.05**2 * 100) ** 0.5 / 20)
    assert changed.paper is None


def test_paper_figures_stand_beside_those_of_the_same_name():
    runs = [as_run(m, 0, 10.0, "20 Newsgroups", k) for m in METHODS for k in (3, 200)]
    found = {
        (change.method, change.alpha, change.k): change.paper for change in relative.changes(runs)
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


def test_markdown_escapes_bars():
    assert "| k-means\\|\\| |" in markdown.table(["", "k=2"], [["k-means||", "1"]])


# --- Whole experiments


def test_files(file, tmp_path, capsys):
    assert run(file, tmp_path) == 0
    assert "small: 2 of 62 rows are all zero" in capsys.readouterr().err

    runs = lines(tmp_path / "table2_runs.csv")
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


def test_runs_are_those_of_the_estimator(file, tmp_path):
    run(file, tmp_path)
    X = sp.load_npz(file)
    for line in lines(tmp_path / "table2_runs.csv"):
        init, alpha = line["method"], float(line["alpha"] or 1)
        model = SphericalKMeans(
            int(line["k"]),
            init="random" if init == "uniform" else init,
            alpha=alpha,
            random_state=int(line["seed"]),
        )
        with pytest.warns(UserWarning, match="rows are all zero"):
            model.fit(X)
        assert float(line["inertia"]) == model.inertia_
        assert int(line["iterations"]) == model.n_iter_


def test_paper_name_in_any_case(file, tmp_path):
    assert run(f"{file}=20 newsgroups", tmp_path, "--k", "2") == 0
    cells = table(tmp_path / "table2.md")
    assert cells["k-means++ α=1.5"][0].endswith("(+0.72)")
    assert cells["uniform"][0].endswith("(**0.00**)")
    text = (tmp_path / "table2.md").read_text("utf-8")
    assert "## 20 Newsgroups: 62 × 80 (in the paper 11,314 × 101,631)" in text


def test_all_methods(file, tmp_path):
    run(file, tmp_path, "--all-methods", "--k", "2")
    assert {"greedy-k-means++", "k-means||"} < {
        line["method"] for line in lines(tmp_path / "table2.csv")
    }


def test_k_above_the_rows_is_left_out(file, tmp_path):
    assert run(file, tmp_path, "--rows", "12", "--k", "2", "13", "--seeds", "1") == 0
    assert {line["k"] for line in lines(tmp_path / "table2_runs.csv")} == {"2"}


def test_resuming_repeats_nothing(file, tmp_path, fits):
    run(file, tmp_path)
    assert len(fits) == RUNS
    before = [
        (tmp_path / name).read_bytes() for name in ("table2_runs.csv", "table2.csv", "table2.md")
    ]
    run(file, tmp_path)
    assert len(fits) == RUNS
    after = [
        (tmp_path / name).read_bytes() for name in ("table2_runs.csv", "table2.csv", "table2.md")
    ]
    assert before == after
    run(file, tmp_path, "--seeds", "3")
    assert {task[-1] for task in fits[RUNS:]} == {2}


def test_other_rows_are_other_runs(file, tmp_path, fits):
    run(file, tmp_path)
    run(file, tmp_path, "--rows", "50")
    assert len(fits) == 2 * RUNS
    assert {line["rows"] for line in lines(tmp_path / "table2.csv")} == {"50"}
    run(file, tmp_path, "--rows", "50")
    assert len(fits) == 2 * RUNS


@pytest.mark.parametrize("cut", [1, 12, "line"])
def test_a_truncated_last_line_is_done_again(file, tmp_path, fits, cut):
    run(file, tmp_path)
    runs_file, changes = tmp_path / "table2_runs.csv", tmp_path / "table2.csv"
    whole, expected = runs_file.read_bytes(), changes.read_bytes()
    last = len(whole.splitlines(keepends=True)[-1])
    runs_file.write_bytes(whole[: -(last - 1 if cut == "line" else cut)])
    run(file, tmp_path)
    assert fits[RUNS:] == [fits[RUNS - 1]]
    assert changes.read_bytes() == expected
    assert len(lines(runs_file)) == RUNS
    assert run(file, tmp_path) == 0
    assert len(fits) == RUNS + 1


def test_a_truncated_head_is_written_again(file, tmp_path, fits):
    (tmp_path / "table2_runs.csv").write_text("data,ro")
    assert run(file, tmp_path) == 0
    assert (tmp_path / "table2_runs.csv").read_text().startswith(RUN_COLUMNS + "\n")


def test_interrupted(file, tmp_path, fits, monkeypatch, capsys):
    counted = seedings.fit

    def stopped(data, task, n_threads):
        if len(fits) == 3:
            assert len(lines(tmp_path / "table2_runs.csv")) == 3  # written as they were done
            raise KeyboardInterrupt
        return counted(data, task, n_threads)

    with monkeypatch.context() as patch:
        patch.setattr(seedings, "fit", stopped)
        assert run(file, tmp_path) == 130
    assert "the same command goes on" in capsys.readouterr().err
    assert len(lines(tmp_path / "table2_runs.csv")) == 3
    assert run(file, tmp_path) == 0
    assert len(fits) == len(set(fits)) == RUNS


@pytest.mark.parametrize(
    ("content", "place"),
    [("other,columns\n", "line 1"), (f"{RUN_COLUMNS}\nmine,5,x\nmine,5\n", "line 2")],
)
def test_a_file_of_something_else_is_left_alone(file, tmp_path, capsys, content, place):
    path = tmp_path / "table2_runs.csv"
    path.write_text(content)
    assert run(file, tmp_path) == 2
    assert f"table2_runs.csv, {place}: " in capsys.readouterr().err
    assert path.read_text() == content


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "missing.npz=x"], "missing.npz: there is no such file"),
        (["--data", __file__, __file__], "Two data sets are called 'test_experiments'"),
        (["--seeds", "0"], "0 should be at least 1"),
    ],
)
def test_wrong_arguments(arguments, message, tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        table2.main([*arguments, "--out", str(tmp_path)])
    assert message in capsys.readouterr().err


def test_wrong_data(tmp_path, capsys):
    assert table2.main(["--data", __file__, "--out", str(tmp_path)]) == 2
    assert "should end in .npy or .npz" in capsys.readouterr().err


def test_generated_data_without_any(tmp_path):
    arguments = ["--rows", "40", "--k", "2", "--seeds", "1", "--out", str(tmp_path)]
    assert table2.main(arguments) == 0
    assert {line["data"] for line in lines(tmp_path / "table2.csv")} == {"generated text"}


# --- Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_overwrites_its_line_on_a_terminal():
    terminal = Terminal()
    shown = progress.Progress(2, 4.0, terminal)
    shown.show("first")
    shown.add(1.0, 50.0)
    shown.show("second")
    shown.end()
    first, second = terminal.getvalue().lstrip("\r").split("\r")
    assert first == "0 of 2 runs, time left not known yet: first"
    assert second.rstrip("\n").rstrip() == "1 of 2 runs, about 2 min left: second"
    assert len(second) > len(first)


def test_progress_is_quiet_on_a_pipe():
    pipe = io.StringIO()
    shown = progress.Progress(100, 100.0, pipe)
    for i in range(100):
        shown.show(f"run {i}")
        shown.add(1.0, 0.0)
    shown.show("all done")
    assert pipe.getvalue() == "100 of 100 runs: all done\n"


@pytest.mark.parametrize(
    ("seconds", "text"), [(4.4, "4 s"), (89, "89 s"), (90, "2 min"), (12_000, "3 h 20 min")]
)
def test_duration(seconds, text):
    assert progress.duration(seconds) == text
