"""Fits that are done are not done again; wrong arguments."""

import os
import signal
import sys
import threading
import time

import pytest

from experiments import (
    command,
    fits,
    table2,
    table3,
)
from experiments.fits import Fit

from ..support import processes
from ..support.tables import RUN_COLUMNS, RUNS, lines, run


def test_resuming_repeats_nothing(file, tmp_path, done, figures):
    run(file, tmp_path)
    assert len(done) == RUNS
    names = ("runs.csv", "table2.csv", "table2.md", "table2.svg")
    before = [(tmp_path / name).read_bytes() for name in names]
    run(file, tmp_path)
    assert len(done) == RUNS
    assert [(tmp_path / name).read_bytes() for name in names] == before
    run(file, tmp_path, "--seeds", "3")
    assert len(done) == len(set(done)) == RUNS * 3 // 2


def test_a_line_cut_short_is_done_again(file, tmp_path, done):
    run(file, tmp_path)
    whole = (tmp_path / "runs.csv").read_bytes()
    (tmp_path / "runs.csv").write_bytes(whole[:-20])
    run(file, tmp_path)
    assert len(done) == RUNS + 1
    assert done[-1] == done[-2]
    assert (tmp_path / "runs.csv").read_bytes().count(b"\n") == whole.count(b"\n")


def test_a_head_cut_short_is_written_again(file, tmp_path):
    (tmp_path / "runs.csv").write_text("data,ro")
    assert run(file, tmp_path) == 0
    assert (tmp_path / "runs.csv").read_text().startswith(RUN_COLUMNS + "\n")


@pytest.mark.parametrize("experiment", [table2, table3])
def test_interrupted(experiment, file, tmp_path, done, monkeypatch, capsys):
    counted = fits.fitted

    def stopped(data, setting, record):
        if len(done) == 3:
            assert len(lines(tmp_path / "runs.csv")) == 3  # written as they were done
            raise KeyboardInterrupt
        return counted(data, setting, record)

    with monkeypatch.context() as patch:
        patch.setattr(fits, "fitted", stopped)
        assert run(file, tmp_path, experiment=experiment) == 130
    assert "the same command goes on" in capsys.readouterr().err
    assert len(lines(tmp_path / "runs.csv")) == 3
    assert run(file, tmp_path, experiment=experiment) == 0
    assert len(done) == len(set(done)) == len(lines(tmp_path / "runs.csv"))


@processes.needs_fork
@pytest.mark.threads
def test_ctrl_c_and_the_same_command_again(tmp_path):
    """A process of its own, stopped by a real SIGINT in the midst of the fits."""
    words = ["--rows", "3000", "--k", "40", "--repeats", "8", "--algorithms", "lloyd", "elkan"]
    command_line = [*words, "--out", str(tmp_path / "out")]
    runs = tmp_path / "out" / "runs.csv"
    ended = processes.run(interrupted_once_a_fit_is_in, runs, command_line)
    assert ended.code == 130, ended.err
    assert "Traceback" not in ended.err
    first = runs.read_bytes()
    assert 2 <= first.count(b"\n") < 17
    assert command.main(table3.EXPERIMENT, command_line) == 0
    assert runs.read_bytes().startswith(first)
    assert len(lines(runs)) == 2 * 8


def interrupted_once_a_fit_is_in(runs, command_line):
    def interrupt():
        while not (runs.exists() and runs.read_bytes().count(b"\n") > 1):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    sys.exit(command.main(table3.EXPERIMENT, command_line))


def test_one_process_at_a_time(file, tmp_path, capsys):
    with fits.Log(tmp_path / "runs.csv", Fit):
        assert run(file, tmp_path) == 2
    assert "runs.csv: another experiment writes to it." in capsys.readouterr().err
    assert run(file, tmp_path) == 0


@pytest.mark.parametrize(
    ("content", "place"),
    [("other,columns\n", "line 1"), (f"{RUN_COLUMNS}\nmine,5,x\nmine,5\n", "line 2")],
)
def test_a_file_of_something_else_is_left_alone(file, tmp_path, capsys, content, place):
    path = tmp_path / "runs.csv"
    path.write_text(content)
    assert run(file, tmp_path) == 2
    assert f"runs.csv, {place}: " in capsys.readouterr().err
    assert path.read_text() == content


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "missing.npz=x"], "missing.npz: there is no such file, and the data sets are"),
        (["--data", __file__, __file__], "Two data sets are called 'test_resuming'"),
        (["--data", "rcv1^T"], "rcv1^T: ^ is for files"),
        (["--data", __file__ + "^U"], "^U should be ^ROWS, ^log or ^T"),
        (["--seeds", "0"], "0 should be at least 1"),
        (["--algorithms", "lloid"], "invalid choice: 'lloid'"),
    ],
)
def test_wrong_arguments(arguments, message, tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main(table2.EXPERIMENT, [*arguments, "--out", str(tmp_path)])
    assert message in capsys.readouterr().err


def test_wrong_data(file, tmp_path, capsys):
    assert run(__file__, tmp_path) == 2
    assert "should end in .npz, .npy, .svmlight" in capsys.readouterr().err
    assert run(f"{file}^T", tmp_path) == 2
    assert "small.npz: with ^T or ^log it should hold counts" in capsys.readouterr().err
    assert run("rcv1", tmp_path) == 2
    assert "rcv1 is not in" in capsys.readouterr().err
