"""Sources that cannot be read: a clear answer, the right exit code, and nothing left behind."""

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arcmeans._cli import main

from ..support.cli_inputs import Run, cluster, matrix, matrix_file, sentences, text_file


def test_missing_file(fails: Run) -> None:
    assert "nothing.csv: there is no such file or folder" in fails(*cluster("nothing.csv"))
    assert "nothing: there is no such file" in fails("predict", "nothing", "nothing.csv")
    assert "nothing.npy: there is no such file" in fails("info", "nothing.npy")


def test_empty_folder(here: Path, fails: Run) -> None:
    (here / "texts").mkdir()
    (here / "texts" / ".hidden").write_text("words")
    assert "texts: the folder holds no files" in fails(*cluster("texts"))
    assert "texts: the folder holds no model.safetensors" in fails("predict", "texts", "x.csv")


def test_empty_files(here: Path, fails: Run) -> None:
    for name in ("a.txt", "a.jsonl"):
        (here / name).touch()
        assert "no terms are left: there are no words" in fails(*cluster(name))
    (here / "a.csv").touch()
    assert "a.csv: the file is empty; a line with the names of columns" in fails(*cluster("a.csv"))
    (here / "a.npy").touch()
    assert "a.npy: damaged, cut off, or not what its name says" in fails(*cluster("a.npy"))


def test_one_document(here: Path, fails: Run, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.txt").write_text("just one document\n")
    assert "-k 4: more clusters than there are documents, which is 1" in fails(*cluster("a.txt"))
    assert main(["cluster", "a.txt", "-k", "1", "-o", "out"]) == 0
    assert "1 document in 1 cluster," in capsys.readouterr().out
    assert (here / "out" / "labels.csv").read_text().splitlines()[1] == "1,0,1.0,,"


def test_k_larger_than_the_rows(here: Path, fails: Run) -> None:
    (source,) = matrix_file(here, "npy")
    said = fails("cluster", source, "-k", "121", "-o", "out")
    assert "-k 121: more clusters than there are rows, which is 120" in said
    assert "--to 121: more clusters than there are rows" in fails("choose-k", source, "--to", "121")


def test_k_larger_than_the_rows_with_words(here: Path, fails: Run) -> None:
    (here / "a.txt").write_text("alpha beta\n1 2\n3 4\n")
    said = fails("cluster", "a.txt", "-k", "2", "-o", "out")
    assert "n_clusters=2" in said
    assert "of n_samples=3 only 1" in said


@pytest.mark.parametrize("kind", ["txt", "csv", "jsonl"])
def test_binary_file(kind: str, here: Path, fails: Run) -> None:
    (here / f"a.{kind}").write_bytes(b"text\n\x00\x01\x02\x03\n")
    said = fails(*cluster(f"a.{kind}"))
    assert f"a.{kind}, line 2: holds a NUL byte: a binary file, not text" in said


def test_unreadable_files_are_listed_and_skipped_only_when_asked(
    here: Path, fails: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    text_file(here, "folder")
    folder = here / "texts.folder"
    (folder / "binary").write_bytes(b"\x7fELF\0\0")
    (folder / "latin.txt").write_bytes("first line\nGröße\n".encode("latin-1"))
    (folder / "wide.txt").write_bytes("wide".encode("utf-16"))
    (folder / "cut.gz").write_bytes(gzip.compress(os.urandom(1000))[:300])
    said = fails(*cluster("texts.folder"))
    assert "4 places could not be read; --skip-errors goes on without them:" in said
    listed = [
        "texts.folder/binary: holds a NUL byte: a binary file, not text",
        "texts.folder/cut.gz: the gzip data is damaged or cut off",
        "texts.folder/latin.txt: line 2: not utf-8 (byte 0xf6 after 2 bytes",
        "texts.folder/wide.txt: begins with the mark of UTF-16: say --encoding utf-16",
    ]
    for line in listed:
        assert line in said
    assert main(["cluster", "texts.folder", "-k", "4", "-o", "out", "--skip-errors"]) == 0
    warned = capsys.readouterr().err
    assert "warning: 4 skipped:" in warned
    for line in listed:
        assert line in warned
    assert len((here / "out" / "labels.csv").read_text().splitlines()) == 121


@pytest.mark.parametrize("kind", ["txt", "csv", "jsonl"])
def test_other_encodings_are_reported_by_file_and_line(
    kind: str, here: Path, fails: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    text_file(here, kind)
    path = here / f"texts.{kind}"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[6] = lines[6].replace(b"number", b"Gr\xfc\xdfe")
    path.write_bytes(b"".join(lines))
    said = fails(*cluster(path.name))
    assert (
        f"1 place could not be read; --skip-errors goes on without it:\n  texts.{kind}, line 7"
        in said
    )
    assert "not utf-8 (byte 0xfc after" in said
    assert main(["cluster", path.name, "-k", "4", "-o", "out", "--encoding", "latin-1"]) == 0
    assert main(["cluster", path.name, "-k", "4", "-o", "out2", "--skip-errors"]) == 0
    assert len((here / "out").joinpath("labels.csv").read_text().splitlines()) == 121
    assert len((here / "out2").joinpath("labels.csv").read_text().splitlines()) == 120


def test_utf_16_and_byte_order_marks(here: Path, fails: Run) -> None:
    text = "\n".join(sentences())
    (here / "wide.txt").write_text(text, encoding="utf-16")
    (here / "mark.csv").write_text(f"text\n{text}", encoding="utf-8-sig")
    said = fails(*cluster("wide.txt"))
    assert "wide.txt, line 1: begins with the mark of UTF-16: say --encoding utf-16" in said
    assert main(["cluster", "wide.txt", "-k", "4", "-o", "a", "-q", "--encoding", "utf-16"]) == 0
    assert main(["cluster", "mark.csv", "-k", "4", "-o", "b", "-q", "--text", "text"]) == 0
    assert (here / "a/labels.csv").read_text() == (here / "b/labels.csv").read_text()


def test_csv_without_the_column(here: Path, fails: Run) -> None:
    text_file(here, "csv")
    said = fails(*cluster("texts.csv", "--text", "body"))
    assert "texts.csv: there is no column 'body', but 'name', 'text'" in said
    assert "no column 'key', but" in fails(*cluster("texts.csv", "--id", "key"))
    (here / "b.csv").write_text("a;b\n1;2\n")
    said = fails(*cluster("b.csv", "--text", "b"))
    assert "no column 'b', but 'a;b'. Are they separated by ';'? Say it by --delimiter" in said
    (here / "c.csv").write_text("a,b\n1,2\n")
    assert "which column holds the text? Say it by --text; there are 'a', 'b'" in fails(
        *cluster("c.csv")
    )


def test_records_that_do_not_fit(here: Path, fails: Run) -> None:
    (here / "a.csv").write_text('text,n\nfine,1\nshort\n"open,2\n')
    said = fails(*cluster("a.csv"))
    assert "a.csv, line 3: record 2 has 1 fields, but the header has 2" in said
    assert "a.csv, line 4: record 3 is not CSV (unexpected end of data)" in said
    (here / "a.jsonl").write_text(
        '{"text": "fine"}\n{"text": 3}\n{"other": "x"}\n[1]\n{"te\n"plain"\n'
    )
    said = fails(*cluster("a.jsonl"))
    assert "a.jsonl, line 2: 'text' is a JSON int, not a string" in said
    assert "a.jsonl, line 3: no key 'text', but 'other'" in said
    assert "a.jsonl, line 4: a JSON list, not an object with the key 'text'" in said
    assert "a.jsonl, line 5: Unterminated string" in said
    assert "line 6" not in said
    (here / "b.jsonl").write_text("nothing\n" * 1000)
    assert "at least 20 places could not be read" in fails(*cluster("b.jsonl"))


def test_truncated_gzip(here: Path, fails: Run) -> None:
    for kind in ("txt", "csv", "jsonl"):
        text_file(here, kind)
        packed = gzip.compress((here / f"texts.{kind}").read_bytes())
        (here / f"cut.{kind}.gz").write_bytes(packed[: len(packed) // 2])
        (here / f"no.{kind}.gz").write_bytes(b"not gzip at all")
        for name in (f"cut.{kind}.gz", f"no.{kind}.gz"):
            assert f"{name}: the gzip data is damaged or cut off (" in fails(*cluster(name))
    matrix_file(here, "svm-one")
    packed = gzip.compress((here / "rows.svm").read_bytes())
    (here / "cut.svm.gz").write_bytes(packed[: len(packed) // 2])
    assert "cut.svm.gz: damaged, cut off, or not what its name says" in fails(
        *cluster("cut.svm.gz")
    )


@pytest.mark.parametrize("kind", ["npy", "npz-dense", "npz-csr", "npz-csc", "mtx"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_truncated_matrices(kind: str, share: float, here: Path, fails: Run) -> None:
    (source,) = matrix_file(here, kind)
    whole = Path(source).read_bytes()
    Path(source).write_bytes(whole[: int(share * len(whole))])
    assert Path(source).name in fails(*cluster(source))


def test_damage_within_an_archive(here: Path, fails: Run) -> None:
    (source,) = matrix_file(here, "npz-csr")
    model = [str(here / "model"), source]
    assert main(["cluster", source, "-k", "4", "-o", model[0], "-q"]) == 0
    whole = bytearray(Path(source).read_bytes())
    at = whole.index(b"data.npy") + 200
    whole[at : at + 20] = bytes(20)
    Path(source).write_bytes(whole)
    for command in (cluster(source), ("predict", *model, "-o", "labels.csv"), ("info", source)):
        assert "rows.npz: damaged, cut off, or not what its name says" in fails(*command)


@pytest.mark.parametrize("damage", ["indptr", "indices", "short"])
def test_arrays_that_do_not_belong_together(damage: str, here: Path, fails: Run) -> None:
    X = matrix()
    np.save(here / "rows.npy", X.toarray())
    assert main(["cluster", "rows.npy", "-k", "4", "-o", "model", "-q"]) == 0
    parts = {"indptr": X.indptr.copy(), "indices": X.indices.copy(), "data": X.data}
    if damage == "indptr":
        parts["indptr"][5] = 10**6
    elif damage == "indices":
        parts["indices"][3] = 99
    else:
        parts["data"] = parts["data"][:-1]
    np.savez(here / "bad.npz", format=b"csr", shape=X.shape, **parts)
    said = fails("predict", "model", "bad.npz", "-o", "labels.csv")
    assert "bad.npz: damaged, cut off, or not what its name says" in said


def test_truncated_parquet(here: Path, fails: Run) -> None:
    text_file(here, "parquet")
    path = here / "texts.parquet"
    path.write_bytes(path.read_bytes()[:-30])
    assert "texts.parquet: damaged, cut off, or not Parquet" in fails(*cluster("texts.parquet"))


def test_parquet_columns(here: Path, fails: Run) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"n": [1, 2], "a": ["x", None], "b": ["y", "z"], "l": [["x"], []]}
    pq.write_table(pa.table(columns), here / "a.parquet")
    assert "which column holds the text? Say it by --text" in fails(*cluster("a.parquet"))
    assert "column 'n' holds int64, not text" in fails(*cluster("a.parquet", "--text", "n"))
    assert "column 'l' holds list<" in fails(*cluster("a.parquet", "--text", "l"))
    assert "there is no column 'c', but 'n', 'a', 'b', 'l'" in fails(
        *cluster("a.parquet", "--text", "c")
    )


def test_svmlight_that_is_none(here: Path, fails: Run) -> None:
    for name, text in (("a.svm", "1 a:b\n"), ("b.svm", "words\n")):
        (here / name).write_text(text)
        said = fails(*cluster(name))
        assert f"{name}: damaged, cut off, or not what its name says" in said
    (here / "c.svm").touch()
    assert "more clusters than there are rows, which is 0" in fails(*cluster("c.svm"))


@pytest.mark.parametrize("kind", ["npy", "npz-dense", "npz-csr", "npz-csc", "mtx"])
def test_matrix_with_nan(
    kind: str, here: Path, fails: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source,) = matrix_file(here, kind)
    assert main(["cluster", source, "-k", "4", "-o", "model", "-q"]) == 0
    X = matrix()
    X.data[X.indptr[77]] = np.nan
    monkeypatch.setattr("tests.support.cli_inputs.matrix", lambda: X)
    matrix_file(here, kind)
    said = f"{Path(source).name}: contains NaN or infinity, first in row 77 (from 0)"
    assert said in fails(*cluster(source))
    monkeypatch.setattr("arcmeans._cli.predict.part_size", lambda k: 50)
    assert said in fails("predict", "model", source, "-o", "labels.csv")


def test_pickled_objects_are_refused(here: Path, fails: Run) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(here / "ran"),)

    objects = np.array([[Bomb(), 1.0]], object)
    np.save(here / "a.npy", objects, allow_pickle=True)
    np.savez(here / "dense.npz", objects)
    X = matrix()
    csr = {"indptr": X.indptr, "indices": X.indices, "data": X.data.astype(object)}
    np.savez(here / "data.npz", format=b"csr", shape=X.shape, **csr)
    csr = {"indptr": X.indptr.astype(object), "indices": X.indices, "data": X.data}
    np.savez(here / "indptr.npz", format=b"csr", shape=X.shape, **csr)
    np.savez(here / "format.npz", format=np.array(Bomb()), shape=X.shape, **csr)
    matrix_file(here, "npy")
    assert main(["cluster", "rows.npy", "-k", "4", "-o", "model", "-q"]) == 0
    for name in ("a.npy", "dense.npz", "data.npz", "indptr.npz", "format.npz"):
        for command in (cluster(name), ("info", name), ("predict", "model", name, "-o", "l.csv")):
            assert f"{name}: holds pickled Python objects, which could run code" in fails(*command)
    assert not (here / "ran").exists()


def test_matrices_that_are_none(here: Path, fails: Run) -> None:
    np.save(here / "line.npy", np.arange(5.0))
    np.save(here / "words.npy", np.array([["a", "b"]]))
    np.save(here / "complex.npy", np.ones((2, 2), complex))
    np.save(here / "nothing.npy", np.ones((0, 2)))
    np.savez(here / "two.npz", a=np.ones((2, 2)), b=np.ones((2, 2)))
    (here / "complex.mtx").write_text("%%MatrixMarket matrix array complex general\n1 1\n1 2\n")
    assert "line.npy: has shape (5,); a matrix of rows and columns" in fails(*cluster("line.npy"))
    assert "words.npy: holds values of type <U1" in fails(*cluster("words.npy"))
    assert "complex.npy: holds values of type complex128" in fails(*cluster("complex.npy"))
    assert "complex.mtx: holds complex numbers" in fails(*cluster("complex.mtx"))
    assert "nothing.npy: has shape (0, 2)" in fails(*cluster("nothing.npy"))
    assert "the arrays in it: 'a', 'b'" in fails(*cluster("two.npz"))
    (here / "a.docx").touch()
    assert "a.docx: .docx is none of the kinds of file that can be read: .txt," in fails(
        *cluster("a.docx")
    )


def test_no_terms_left_names_the_option(here: Path, fails: Run) -> None:
    (here / "a.txt").write_text("apple common\nbanana common\ncherry common\n")
    start = "no terms are left: of 4 terms in 3 documents "
    for options, why in (
        (("--min-df", "4"), "4 occur in fewer than 4 (--min-df)."),
        (("--max-df", "0"), "4 in more than 0 (--max-df)."),
        (
            ("--min-df", "2", "--max-df", "0.9"),
            "3 occur in fewer than 2 (--min-df) and 1 in more than 2 (--max-df).",
        ),
    ):
        assert start + why in fails("cluster", "a.txt", "-k", "1", "-o", "out", *options)
    (here / "stop.txt").write_text("the and of\nit is\n")
    assert "--stop-words and --language took every word" in fails(*cluster("stop.txt"))
    (here / "numbers.txt").write_text("1 2 3\n4 5\n")
    assert "there are no words (of two or more letters) in the texts" in fails(
        *cluster("numbers.txt")
    )


def test_languages_without_a_list(here: Path, fails: Run) -> None:
    text_file(here, "txt")
    said = fails(*cluster("texts.txt", "--language", "tlh"))
    assert "--language tlh: there is no list of stop words for it, but for af, ar," in said
