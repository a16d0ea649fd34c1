"""Commands that are interrupted or killed: what is left is whole and says what it is."""

import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from arcmeans import SphericalKMeans
from arcmeans._cli import console, main

from ..support import processes
from ..support.cli_inputs import sentences

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are another thing elsewhere")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("rows.npy", np.random.RandomState(0).standard_normal((600, 8)))
    return tmp_path


CLUSTER = ["cluster", "rows.npy", "-k", "20", "-o", "out"]


@pytest.fixture
def ctrl_c(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Has Ctrl-C pressed once a fit has come so far."""
    real = console.Stage.reach

    def press(at: int) -> None:
        def reach(self: console.Stage, done: float, note: str = "") -> None:
            real(self, done, note)
            if self.name == "clustering" and done == at:
                os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setattr(console.Stage, "reach", reach)

    return press


@pytest.mark.threads
def test_ctrl_c_writes_the_result_so_far_and_says_so(
    ctrl_c: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    ctrl_c(3)
    assert main(CLUSTER) == 130
    assert (
        "interrupted after 3 iterations; out has the result so far (not converged)"
        in capsys.readouterr().err
    )
    found = json.loads(Path("out/clusters.json").read_text())
    assert (found["iterations"], found["stopped"]) == (3, "not converged")
    assert found["interrupted"] is True
    assert '"interrupted":true' in Path("out/report.html").read_text()
    model = SphericalKMeans.load("out/model.safetensors")
    X = np.load("rows.npy")
    same = SphericalKMeans(20, init="k-means++", random_state=0, max_iter=3).fit(X)
    assert np.array_equal(model.labels_, same.labels_)
    assert np.array_equal(model.predict(X), model.labels_)


@pytest.mark.threads
def test_ctrl_c_with_a_checkpoint_goes_on_later(
    ctrl_c: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*CLUSTER[:-1], "whole", "-q"]) == 0
    ctrl_c(3)
    assert main([*CLUSTER, "--checkpoint", "fit.npz"]) == 130
    said = capsys.readouterr().err
    assert "fit.npz has the state of the fit, and the same command goes on from there" in said
    assert not Path("out").exists()
    ctrl_c(0)  # never
    assert main([*CLUSTER, "--checkpoint", "fit.npz", "-q"]) == 0
    assert not Path("fit.npz").exists()
    assert Path("out/labels.csv").read_bytes() == Path("whole/labels.csv").read_bytes()


def test_interrupted_while_reading(here: Path) -> None:
    command = [sys.executable, "-m", "arcmeans", "cluster", "-", "-k", "4", "-o", "out"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, cwd=here, text=True, **pipes) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        child.stdin.write("\n".join(sentences()))
        child.stdin.flush()
        assert child.stderr.readline() == "reading standard input\n"
        child.send_signal(signal.SIGINT)
        said = child.stderr.read()
    assert child.returncode == 130
    assert said.strip() == "arcmeans: error: interrupted."
    assert sorted(path.name for path in here.iterdir()) == ["rows.npy"]


def killed(monkeypatch: pytest.MonkeyPatch, place: str, *arguments: str) -> None:
    """Runs a command in a process that is killed at its first call of ``place``."""
    with monkeypatch.context() as patch:
        patch.setattr(place, processes.kill_me)
        ended = processes.run(main, [*arguments])
    assert ended.code == -signal.SIGKILL, ended.err


def seen(here: Path) -> list[str]:
    """What a user sees of the folder."""
    return sorted(path.name for path in here.iterdir() if not path.name.startswith("."))


@pytest.mark.parametrize("place", ["arcmeans._cli.cluster.write_report", "os.rename"])
def test_killed_while_writing_leaves_no_half_folder(
    place: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(monkeypatch, place, *CLUSTER)
    assert seen(here) == ["rows.npy"]
    assert main([*CLUSTER, "-q"]) == 0
    assert len(list(Path("out").iterdir())) == 5


def test_killed_while_replacing_leaves_the_old_folder(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*CLUSTER, "-q"]) == 0
    before = Path("out/labels.csv").read_bytes()
    killed(monkeypatch, "os.rename", *CLUSTER, "--force", "--seed", "5")
    assert seen(here) == ["out", "rows.npy"]
    assert Path("out/labels.csv").read_bytes() == before
    assert len(list(Path("out").iterdir())) == 5


def test_killed_predict_leaves_no_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main([*CLUSTER, "-q"]) == 0
    killed(monkeypatch, "os.fsync", "predict", "out", "rows.npy", "-o", "labels.csv")
    assert seen(here) == ["out", "rows.npy"]
    assert main(["predict", "out", "rows.npy", "-o", "labels.csv", "-q"]) == 0
    assert Path("labels.csv").read_bytes() == Path("out/labels.csv").read_bytes()


def test_killed_fit_goes_on_from_its_checkpoint(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reach(self: console.Stage, done: float, note: str = "") -> None:
        self.done = done
        if done == 5:
            processes.kill_me()

    with monkeypatch.context() as patch:
        always = functools.partial(SphericalKMeans, checkpoint_seconds=0)
        patch.setattr("arcmeans._cli.cluster.SphericalKMeans", always)
        patch.setattr(console.Stage, "reach", reach)
        ended = processes.run(main, [*CLUSTER, "--checkpoint", "fit.npz"])
    assert ended.code == -signal.SIGKILL, ended.err
    assert seen(here) == ["fit.npz", "rows.npy"]
    assert main([*CLUSTER, "--checkpoint", "fit.npz", "-q"]) == 0
    assert main([*CLUSTER[:-1], "whole", "-q"]) == 0
    assert Path("out/labels.csv").read_bytes() == Path("whole/labels.csv").read_bytes()
    assert seen(here) == ["out", "rows.npy", "whole"]


def test_reader_of_a_pipe_that_leaves(here: Path) -> None:
    assert main([*CLUSTER, "-q"]) == 0
    np.save("many.npy", np.random.RandomState(0).standard_normal((100_000, 8)))
    ended = processes.run_for_a_line(lambda: sys.exit(main(["predict", "out", "many.npy"])))
    assert ended.code == 141
    assert ended.out == "id,label,similarity,second_label,second_similarity\n"
    assert ended.err == "reading many.npy\n"
