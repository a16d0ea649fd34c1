"""Each command from beginning to end, on small real inputs."""

import csv
import io
import json
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from arcmeans import SphericalKMeans, explain
from arcmeans._cli import main

from ..support.cli_inputs import MATRIX_KINDS, TEXT_KINDS, matrix, matrix_file, sentences, text_file

FILES = {"labels.csv", "model.safetensors", "clusters.json", "trace.csv", "report.html"}


def table(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("kind", TEXT_KINDS)
def test_cluster_finds_the_topics_of_texts(kind: str, here: Path) -> None:
    source = text_file(here, kind)
    assert main(["cluster", *source, "-k", "4", "-o", "out", "--runs", "5"]) == 0
    assert {path.name for path in Path("out").iterdir()} == FILES
    rows = table(Path("out/labels.csv"))
    assert len(rows) == 120
    number = (
        (lambda row: int(Path(row["id"]).stem))
        if kind == "folder"
        else (lambda row: int(row["id"]) - 1)
    )
    of_topic: dict[int, set[str]] = {}
    for row in rows:
        of_topic.setdefault(number(row) % 4, set()).add(row["label"])
    assert sorted(map(len, of_topic.values())) == [1, 1, 1, 1]
    assert len(set.union(*of_topic.values())) == 4


@pytest.mark.parametrize("kind", MATRIX_KINDS)
def test_cluster_and_predict_matrices(
    kind: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcmeans._cli.predict.part_size", lambda k: 7)  # parts that do not fit
    source = matrix_file(here, kind)
    assert main(["cluster", *source, "-k", "4", "-o", "out", "--seed", "1", "-q"]) == 0
    rows = table(Path("out/labels.csv"))
    X = matrix().toarray() if "npy" in kind or "dense" in kind else matrix()
    model = SphericalKMeans(4, init="k-means++", random_state=1).fit(X)
    assert [int(row["label"]) for row in rows] == model.labels_.tolist()
    assert [row["id"] for row in rows] == [str(i) for i in range(120)]
    capsys.readouterr()
    assert main(["predict", "out", *source]) == 0
    assert capsys.readouterr().out == Path("out/labels.csv").read_text()


@pytest.mark.parametrize("zero_based", [False, True])
def test_features_of_svmlight_are_counted_as_in_the_fit(zero_based: bool, here: Path) -> None:
    """New rows may lack the feature by which one could tell."""
    (source,) = matrix_file(here, "svm-zero" if zero_based else "svm-one")
    assert main(["cluster", source, "-k", "4", "-o", "out", "-q"]) == 0
    X = matrix()
    without = np.flatnonzero(X[:, [0]].toarray().ravel() == 0)
    dump_svmlight_file(X[without], np.zeros(len(without)), "new.svm", zero_based=zero_based)
    assert main(["predict", "out", "new.svm", "-o", "new.csv", "-q"]) == 0
    before = [row["similarity"] for row in table(Path("out/labels.csv"))]
    assert [row["similarity"] for row in table(Path("new.csv"))] == [before[i] for i in without]


def test_labels_have_the_two_best_centers(topics: Path) -> None:
    model = SphericalKMeans.load(topics / "model.safetensors")
    rows = table(topics / "labels.csv")
    assert list(rows[0]) == ["id", "label", "similarity", "second_label", "second_similarity"]
    assert [row["id"] for row in rows] == [f"n{i}" for i in range(120)]
    assert [int(row["label"]) for row in rows] == model.labels_.tolist()
    for row in rows:
        assert row["label"] != row["second_label"]
        assert 0 <= float(row["second_similarity"]) <= float(row["similarity"]) <= 1


def test_similarities_are_those_of_transform(here: Path) -> None:
    matrix_file(here, "npy")
    assert main(["cluster", "rows.npy", "-k", "3", "-o", "out", "-q"]) == 0
    model = SphericalKMeans.load("out/model.safetensors")
    cosines = np.sort(1 - model.transform(matrix().toarray()), axis=1)
    rows = table(Path("out/labels.csv"))
    assert [float(r["similarity"]) for r in rows] == pytest.approx(cosines[:, -1], abs=1e-6)
    assert [float(r["second_similarity"]) for r in rows] == pytest.approx(cosines[:, -2], abs=1e-6)


def test_clusters_json_says_what_the_library_says(topics: Path) -> None:
    found = json.loads((topics / "clusters.json").read_text())
    model = SphericalKMeans.load(topics / "model.safetensors")
    assert found["k"] == 4
    assert found["rows"] == 120
    assert found["objective"] == model.trace_["objective"][-1]
    assert found["stopped"] == "converged"
    assert found["similarities"]["computed"] == int(model.trace_["similarities"].sum())
    assert found["similarities"]["of_all_pairs"] == 120 * 4 * model.n_iter_
    for cluster, expected in zip(found["clusters"], explain(model), strict=True):
        assert cluster["size"] == expected.size == 30
        assert [t["name"] for t in cluster["descriptive"]] == [t.name for t in expected.descriptive]
        assert 0 < cluster["cohesion"] < 1
        assert cluster["discriminating"]
        for row in cluster["typical"] + cluster["atypical"]:
            assert row["id"] == f"n{row['row']}"
            assert row["text"] == sentences()[row["row"]]


def test_trace_csv_is_the_trace(topics: Path) -> None:
    model = SphericalKMeans.load(topics / "model.safetensors")
    rows = table(topics / "trace.csv")
    assert list(rows[0]) == list(model.trace_.dtype.names)
    assert [float(row["objective"]) for row in rows] == model.trace_["objective"].tolist()
    assert [int(row["changed"]) for row in rows] == model.trace_["changed"].tolist()


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "\n\n".join(sentences()).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert main(["cluster", "-", "-k", "4", "-o", "out", "--runs", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 120
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert main(["predict", "out", "-", "-q"]) == 0
    assert capsys.readouterr().out == Path("out/labels.csv").read_text()


@pytest.mark.parametrize("kind", TEXT_KINDS)
def test_predict_by_the_vocabulary_of_the_model(
    kind: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcmeans._cli.predict.part_size", lambda k: 7)
    source = text_file(here, kind)
    assert main(["cluster", *source, "-k", "4", "-o", "out", "--ngrams", "1-2", "-q"]) == 0
    assert main(["predict", "out/model.safetensors", *source, "-o", "new.csv"]) == 0
    assert Path("new.csv").read_text() == Path("out/labels.csv").read_text()
    assert "120 rows in new.csv" in capsys.readouterr().err


def test_predict_json_lines_and_words_unknown(
    topics: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = b"the rocket launch\nzebra quagga\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(texts)))
    assert main(["predict", "out", "-", "--json"]) == 0
    captured = capsys.readouterr()
    known, unknown = map(json.loads, captured.out.splitlines())
    assert known["label"] == int(table(topics / "labels.csv")[0]["label"])
    assert known["similarity"] > 0.3
    assert unknown == {
        "id": "2",
        "label": -1,
        "similarity": None,
        "second_label": None,
        "second_similarity": None,
    }
    assert "1 of 2 rows have none of the model's terms" in captured.err


def test_choose_k(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = text_file(here, "jsonl")
    arguments = ["choose-k", *source, "--from", "2", "--to", "6", "--runs", "3"]
    assert main([*arguments, "-o", "choice"]) == 0
    out = capsys.readouterr().out
    assert "largest simplified_silhouette: k = 4" in out
    assert "plot: choice/choose-k.html" in out
    lengths = [line.count("█") for line in out.splitlines()[1:6]]
    assert max(lengths) == lengths[2] == 24
    rows = table(Path("choice/choose-k.csv"))
    assert [int(row["k"]) for row in rows] == [2, 3, 4, 5, 6]
    assert main([*arguments, "--json", "--by", "silhouette"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["by"], found["best"]) == ("silhouette", 4)
    assert [row["inertia"] for row in found["table"]] == [float(row["inertia"]) for row in rows]


def test_the_ks_that_are_tried(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = matrix_file(here, "npy")
    assert main(["choose-k", *source, "--to", "100", "--max-iter", "2", "--json"]) == 0
    ks = [row["k"] for row in json.loads(capsys.readouterr().out)["table"]]
    assert (ks[0], ks[-1]) == (2, 100)
    assert len(ks) <= 20
    assert main(["choose-k", *source, "--to", "11", "--step", "3", "--json"]) == 0
    ks = [row["k"] for row in json.loads(capsys.readouterr().out)["table"]]
    assert ks == [2, 5, 8, 11]


def test_explain(topics: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "out"]) == 0
    model = SphericalKMeans.load(topics / "model.safetensors")
    assert capsys.readouterr().out == f"{explain(model)}\n"
    assert main(["explain", "out", "texts.csv", "--id", "name", "--cluster", "2", "--json"]) == 0
    (cluster,) = json.loads(capsys.readouterr().out)["clusters"]
    everything = json.loads((topics / "clusters.json").read_text())["clusters"]
    assert cluster["cohesion"] == pytest.approx(everything[2]["cohesion"], abs=1e-6)
    assert [r["id"] for r in cluster["typical"]] == [r["id"] for r in everything[2]["typical"][:3]]
    assert main(["explain", "out", "texts.csv", "--id", "name", "--cluster", "2", "-q"]) == 0
    assert main(["explain", "out", "texts.csv", "--id", "name", "--cluster", "2"]) == 0
    assert f"typical:        {cluster['typical'][0]['id']} (" in capsys.readouterr().out


@pytest.mark.parametrize("kind", MATRIX_KINDS)
def test_info_of_a_matrix(kind: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source,) = matrix_file(here, kind)
    assert main(["info", source, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    X = matrix()
    assert (facts["rows"], facts["features"]) == X.shape
    assert facts["non-zero values"] == X.nnz
    assert facts["all-zero rows"] == facts["values not finite"] == 0
    assert main(["info", source]) == 0
    assert "density" in capsys.readouterr().out


def test_info_of_a_model(topics: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "out", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["clusters"], facts["rows fitted"]) == (4, 120)
    assert facts["texts"]["ngrams"] == [1, 1]
    assert facts["parameters"]["n_init"] == 5
    assert main(["info"]) == 0
    assert "instruction set" in capsys.readouterr().out


def test_feature_names(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = matrix_file(here, "npz-csr")
    Path("names.txt").write_text("".join(f"column-{i}\n" for i in range(30)))
    assert main(["cluster", *source, "-k", "4", "-o", "out", "--feature-names", "names.txt"]) == 0
    assert main(["explain", "out"]) == 0
    assert "column-" in capsys.readouterr().out


def test_words_are_chosen_by_options(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def terms(*options: str) -> set[str]:
        assert main(["cluster", "t.txt", "-k", "2", "-o", "out", "--force", "-q", *options]) == 0
        model = SphericalKMeans.load("out/model.safetensors")
        return set(model.feature_names_in_)

    Path("t.txt").write_text("the red fox 2024\nder rote Fuchs und the fox\nred wine\nred rag\n")
    assert terms() == {"red", "fox", "der", "rote", "fuchs", "und", "wine", "rag"}
    assert terms("--language", "de") >= {"the", "rote", "fuchs"}
    assert "und" not in terms("--language", "de")
    assert terms("--min-df", "2") == {"red", "fox"}
    assert terms("--max-df", "0.5", "--min-df", "2") == {"fox"}
    assert "red fox" in terms("--ngrams", "1-2")
    assert "the red" in terms("--ngrams", "2", "--stop-words", "none")
    Path("stop.txt").write_text("RED\nwine fox\n")
    assert terms("--stop-words", "stop.txt") == {"the", "der", "rote", "fuchs", "und", "rag"}
    Path("t.txt").write_text("数据聚类\n数据挖掘\n", encoding="utf-8")
    assert terms("--language", "zh", "--stop-words", "none") == {
        "数据",
        "据聚",
        "聚类",
        "据挖",
        "挖掘",
    }


def test_demo_ends_by_naming_the_report(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    functions = [f'def f{i}():\n    """{text}"""\n' for i, text in enumerate(sentences())]
    (here / "library").mkdir()
    (here / "library" / "functions.py").write_text("".join(functions))
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(here / "library"))
    assert main(["demo", "-k", "5"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Report: arcmeans-demo/report.html"
    assert {path.name for path in Path("arcmeans-demo").iterdir()} == FILES
    assert main(["demo", "-k", "3"]) == 0  # over its own folder, unasked
    assert len(json.loads(Path("arcmeans-demo/clusters.json").read_text())["clusters"]) == 3
