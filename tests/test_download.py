"""Downloads, from a server in this process: whole, resumed, cut off, changed, and wrong."""

import hashlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from arcmeans import datasets
from arcmeans.datasets import _dblp as dblp
from arcmeans.datasets import _download as download
from arcmeans.datasets._download import Remote, fetch
from arcmeans.datasets._origins import ORIGINS, Origin

from .support.dblp_dumps import written

CONTENT = bytes(range(256)) * 4000
MEGABYTE = len(CONTENT)


@dataclass
class Server:
    """What is served, and what was asked for."""

    url: str = ""
    content: bytes = CONTENT
    tag: str = '"one"'
    cuts: list[int] = field(default_factory=list)
    """Bytes after which an answer is broken off, one for each; then no more."""
    ranges: bool = True
    status: int = 200
    md5: str | None = None
    asked: list[str | None] = field(default_factory=list)
    """The Range of each request."""


@pytest.fixture
def server(monkeypatch):
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path.endswith(".md5"):
                return self.answer(200 if state.md5 else 404, (state.md5 or "").encode(), {})
            asked = self.headers["Range"]
            state.asked.append(asked)
            if state.status != 200:
                return self.answer(state.status, b"", {})
            headers = {"ETag": state.tag}
            same = self.headers["If-Range"] == state.tag
            if asked is None or not state.ranges or not same:
                return self.answer(200, state.content, headers)
            first = int(asked.removeprefix("bytes=").removesuffix("-"))
            size = len(state.content)
            if first >= size:
                return self.answer(416, b"", {"Content-Range": f"bytes */{size}"})
            headers["Content-Range"] = f"bytes {first}-{size - 1}/{size}"
            return self.answer(206, state.content[first:], headers)

        def answer(self, status, body, headers):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            cut = state.cuts.pop(0) if state.cuts and body else len(body)
            self.wfile.write(body[:cut])
            if cut < len(body):
                self.wfile.flush()
                self.connection.shutdown(2)

        def log_message(self, *_):
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{served.server_port}/file"
    monkeypatch.setattr(download, "PAUSE", 0.0)
    monkeypatch.setenv("no_proxy", "*")
    yield state
    served.shutdown()
    served.server_close()
    thread.join()


def remote(server, **more):
    return Remote("file", server.url, **more)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_whole(server, tmp_path, capsys):
    fetch(remote(server, sha256=hashlib.sha256(CONTENT).hexdigest()), tmp_path / "new" / "file")
    assert (tmp_path / "new" / "file").read_bytes() == CONTENT
    assert files(tmp_path / "new") == ["file"]
    assert server.asked == [None]
    assert "1 of 1 MB: file" in capsys.readouterr().err


def test_a_connection_cut_off_is_taken_up_again(server, tmp_path):
    server.cuts = [300_000, 200_000]
    fetch(remote(server, sha256=hashlib.sha256(CONTENT).hexdigest()), tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == [None, "bytes=300000-", "bytes=500000-"]


def test_an_earlier_try_is_taken_up_again(server, tmp_path):
    server.cuts = [100_000, 0, 0, 0, 0]
    with pytest.raises(OSError, match=r"after 5 tries\. 100,000 bytes are kept; the next try"):
        fetch(remote(server), tmp_path / "file")
    assert files(tmp_path) == ["file.part", "file.part.tag"]
    server.asked.clear()
    fetch(remote(server), tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == ["bytes=100000-"]
    assert files(tmp_path) == ["file"]


def test_a_file_that_changed_begins_anew(server, tmp_path):
    (tmp_path / "file.part").write_bytes(b"old" * 50_000)
    (tmp_path / "file.part.tag").write_text('"zero"')
    fetch(remote(server), tmp_path / "file")
    assert server.asked == ["bytes=150000-"]
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_part_without_a_tag_begins_anew(server, tmp_path):
    (tmp_path / "file.part").write_bytes(b"old" * 50_000)
    fetch(remote(server), tmp_path / "file")
    assert server.asked == [None]
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_server_without_ranges(server, tmp_path):
    server.ranges = False
    server.cuts = [300_000]
    fetch(remote(server), tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_all_had_come_already(server, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT)
    (tmp_path / "file.part.tag").write_text(server.tag)
    fetch(remote(server, sha256=hashlib.sha256(CONTENT).hexdigest()), tmp_path / "file")
    assert server.asked == [f"bytes={MEGABYTE}-"]
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_more_had_come_than_there_is(server, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT + b"more")
    (tmp_path / "file.part.tag").write_text(server.tag)
    fetch(remote(server), tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_wrong_checksum(server, tmp_path):
    with pytest.raises(ValueError, match=r"has sha256 .*, but 00 is published for it. It was rem"):
        fetch(remote(server, sha256="00"), tmp_path / "file")
    assert files(tmp_path) == []


def test_published_checksum(server, tmp_path):
    server.md5 = hashlib.md5(CONTENT).hexdigest() + "  dblp.xml.gz\n"
    fetch(remote(server, md5_url=server.url + ".md5"), tmp_path / "file")
    assert (tmp_path / "file").exists()
    server.md5 = "0" * 32 + "  dblp.xml.gz\n"
    with pytest.raises(ValueError, match=f"but {'0' * 32} is published for it"):
        fetch(remote(server, md5_url=server.url + ".md5"), tmp_path / "other")
    server.md5 = "<html>"
    with pytest.raises(ValueError, match="'<html>' should begin with an MD5 sum"):
        fetch(remote(server, md5_url=server.url + ".md5"), tmp_path / "other")
    server.md5 = None
    with pytest.raises(OSError, match=r"file\.md5: .*Not Found"):
        fetch(remote(server, md5_url=server.url + ".md5"), tmp_path / "other")


@pytest.mark.parametrize("status", [403, 404, 500])
def test_refused(server, tmp_path, status):
    server.status = status
    with pytest.raises(OSError, match=f"/file: {status} "):
        fetch(remote(server), tmp_path / "file")
    assert server.asked == [None]  # nothing to be had by asking again
    assert files(tmp_path) == []


def test_nobody_there(server, tmp_path, monkeypatch):
    nowhere = Remote("file", "http://127.0.0.1:9/file")  # the port for throwing things away
    with pytest.raises(OSError, match=r"127\.0\.0\.1:9/file: .*refused.* after 5 tries"):
        fetch(nowhere, tmp_path / "file")


def test_from_the_server_to_the_matrix(server, tmp_path, monkeypatch):
    server.content = written(tmp_path).read_bytes()
    server.md5 = hashlib.md5(server.content).hexdigest()
    monkeypatch.setenv("ARCMEANS_DATA", str(tmp_path / "cache"))
    dump = Remote("dblp.xml.gz", server.url, md5_url=server.url + ".md5")
    origin = Origin((dump,), dblp.build)
    monkeypatch.setitem(ORIGINS, "dblp-author-venue", origin)
    found = datasets.load("dblp-author-venue", download=True)
    assert found.X.shape == (3, 3)
    assert (tmp_path / "cache" / "dblp.xml.gz").exists()
    assert datasets.load("dblp-author-venue").row_names == found.row_names
    assert server.asked == [None]
