"""The benchmarks run, count what they say they count, and write what they say they write."""

import csv
import dataclasses
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.axes import Axes

import benchmarks.__main__ as command
from benchmarks import cases, data, growth, lloyd, ratios, roofline, targets, timing
from benchmarks.cases import Case, Targets


@pytest.fixture(autouse=True)
def _briefly(monkeypatch):
    monkeypatch.setattr(timing.in_turns, "__defaults__", (0.0,))


@pytest.fixture
def small(monkeypatch):
    """Two lines of the table, small: one that any time reaches, one that none does."""
    nothing, everything = (Targets(*[x] * 3) for x in (-float("inf"), 1e9))
    table = (
        Case("text", 300, 200, {4: nothing}, lambda n: data.generated(n, 500, 20, 5)),
        Case("points", 300, 200, {40: everything}, cases.embeddings),
    )
    monkeypatch.setattr(targets, "CASES", table)
    monkeypatch.setattr(command, "CASES", table)
    return table


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["benchmarks", *map(str, arguments)])
    command.main()


def test_targets(small, tmp_path, monkeypatch, capsys):
    run(monkeypatch, "targets", "--csv", tmp_path)
    with (tmp_path / "targets.csv").open() as file:
        text, points = csv.DictReader(file)
    assert [field.name for field in dataclasses.fields(targets.Reached)] == list(text)
    assert (text["data"], text["rows"], text["k"]) == ("text", "200", "4")
    assert (points["data"], points["rows"], points["k"]) == ("points", "200", "40")
    for line in (text, points):
        assert 0.0 < float(line["similarities"]) <= 1.0
        assert 0.0 < float(line["lines"]) <= 1.0
        assert float(line["lloyd_ratio"]) == float(line["lloyd"]) / float(line["auto"])
        assert float(line["loop_ratio"]) == float(line["loop"]) / float(line["auto"])
    missed = capsys.readouterr().out.split("targets missed:")[1]
    assert missed.count("points k=40: ") >= 3
    assert "x loop, not 1e+09" in missed
    assert "text k=4: " not in missed.split("auto loses")[0]


def test_targets_takes_files_by_name_and_all_their_rows(small, tmp_path, monkeypatch, capsys):
    path = tmp_path / "file.npz"
    sp.save_npz(path, data.generated(250, 400, 15, 5))
    run(monkeypatch, "targets", "--csv", tmp_path, "--data", f"text={path}")
    with (tmp_path / "targets.csv").open() as file:
        (line,) = csv.DictReader(file)
    assert (line["data"], line["rows"]) == ("text", "250")
    with pytest.raises(SystemExit):
        run(monkeypatch, "targets", "--data", f"other={path}")
    assert "--data other=... should be one of text, points" in capsys.readouterr().err


@pytest.mark.parametrize(("auto_loss", "said"), [(0.14, "nowhere"), (0.2, "20% to lloyd")])
def test_what_auto_loses_is_said(auto_loss, said, capsys):
    fields = {field.name: 1.0 for field in dataclasses.fields(targets.Reached)}
    fields |= {"data": "text", "k": 4, "best": "lloyd", "auto_loss": auto_loss}
    targets.conclude([targets.Reached(**fields)])
    assert said in capsys.readouterr().out.split("auto loses more than 15%:")[1]


def test_the_time_of_a_loop_is_that_of_as_many_iterations_as_ours():
    few = timing.Measured(8.0, lloyd.Fit(np.zeros(1), 4))
    assert targets.loop_seconds(few, 11) == 22.0


def test_growth_draws(tmp_path, monkeypatch):
    path = tmp_path / "some.npz"
    sp.save_npz(path, data.generated(200, 150, 15, 5))
    monkeypatch.setattr(growth, "QUICK_CLUSTERS", (2, 5, 20))
    monkeypatch.setattr(growth, "AT_CLUSTERS", 10)
    run(monkeypatch, "growth", "--quick", "--csv", tmp_path, "--data", path)
    with (tmp_path / "growth.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert {line["algorithm"] for line in lines} == {*growth.ALGORITHMS, "loop"}
    assert {int(line["k"]) for line in lines if line["against"] == "k"} == {2, 5, 20}
    assert {int(line["rows"]) for line in lines if line["against"] == "n"} == {50, 100, 200}
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (tmp_path / "growth.svg").read_text()


def test_roofline_counts_the_lines_of_a_first_pass():
    X = data.generated(400, 300, 15, 5)
    first = [r for r in roofline.measure("some", X, quick=True) if r.phase == "first"]
    assert [(r.k, r.lines_a_row, r.of_lines) for r in first] == [(32, 1.0, 1), (100, 4.0, 4)]
    assert all(r.gb_per_second > 0.0 for r in first)


def test_bandwidth_covers_all_caches():
    levels = list(roofline.bandwidth(repeats=1))
    assert [level.working_set_kb for level in levels] == [16 * 4**i for i in range(8)]
    assert all(level.gb_per_second > 0.0 for level in levels)


def test_the_plot_of_ratios_has_a_mark_for_each_peer_that_was_timed(tmp_path, monkeypatch):
    table = tmp_path / "targets.csv"
    head = "data,k,loop_ratio,scikit_learn_ratio,faiss_ratio\n"
    table.write_text(head + "text,20,3.0,5.0,\npoints,100,2.0,0.5,1.5\n")
    marks, plot = [], Axes.plot

    def noted(ax, x, y, **looks):
        marks.append((x, y))
        return plot(ax, x, y, **looks)

    monkeypatch.setattr(Axes, "plot", noted)
    ratios.draw(ratios.read(table), tmp_path / "folder" / "ratios.svg")
    assert sorted(marks) == [(0.5, 1), (1.5, 1), (2.0, 1), (3.0, 0), (5.0, 0)]
    assert "</svg>" in (tmp_path / "folder" / "ratios.svg").read_text()
