"""Lines of progress: on a terminal, with and without tqdm; silent elsewhere; never in the way of the work."""
import functools
import http.server
import io
import sys
import threading
import time
import types

import pytest

from dragon import seeing
from dragon.core import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Standard error as a terminal, with work that is long at once."""
    stream = Terminal()
    monkeypatch.setattr(progress, "sys", types.SimpleNamespace(stderr=stream))  # pytest sets its own again and again
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    monkeypatch.setattr(progress, "_INTERVAL", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("DRAGON_PROGRESS", raising=False)
    return stream


@pytest.fixture(params=["tqdm", "plain"])
def drawn(request, terminal, monkeypatch):
    """The terminal, with the package that draws, and without it."""
    if request.param == "tqdm":
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    return terminal


def test_items_are_counted(drawn):
    assert list(seeing.progress(range(5), what="adding", unit="numbers")) == list(range(5))
    text = drawn.getvalue()
    assert "adding" in text and "5" in text and "100%" in text and "numbers/s" in text and text.endswith("\n")


def test_bytes_have_units(drawn):
    with seeing.progress(total=3 << 20, what="weights", unit="B") as line:
        for _ in range(3):
            line.update(1 << 20)
            time.sleep(0.02)
    text = drawn.getvalue()
    assert "3.0" in text and "100%" in text and "\x1b[3" not in text


def test_the_line_ends_when_the_work_breaks_off(drawn):
    with pytest.raises(KeyboardInterrupt):
        for number in seeing.progress(range(100), what="broken"):
            if number == 3:
                raise KeyboardInterrupt
    assert drawn.getvalue().endswith("\n") or "\r" in drawn.getvalue()


@pytest.mark.parametrize("name, value", [("DRAGON_PROGRESS", "0"), ("TERM", "dumb")])
def test_nothing_is_shown_where_nobody_wants_it(drawn, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert sum(seeing.progress([1, 2, 3])) == 6
    assert drawn.getvalue() == ""


def test_files_stay_clean_and_logs_may_ask(monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    monkeypatch.setattr(progress, "_LOG_INTERVAL", 0.0)
    monkeypatch.delenv("DRAGON_PROGRESS", raising=False)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    assert sum(seeing.progress([1, 2, 3])) == 6 and stream.getvalue() == ""
    monkeypatch.setenv("DRAGON_PROGRESS", "1")
    assert sum(seeing.progress([1, 2, 3], what="log")) == 6
    lines = stream.getvalue().splitlines()
    assert len(lines) >= 3 and all(line.startswith("log: ") for line in lines) and "\r" not in stream.getvalue()


def test_short_work_has_no_line(terminal, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(progress, "_DELAY", 60.0)
    assert sum(seeing.progress([1, 2, 3])) == 6 and terminal.getvalue() == ""


def test_streams_that_close_do_no_harm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    monkeypatch.setenv("DRAGON_PROGRESS", "1")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    items = iter(seeing.progress([1, 2, 3]))
    next(items)
    stream.close()
    assert list(items) == [2, 3]
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.delenv("DRAGON_PROGRESS")
    assert list(seeing.progress([1])) == [1]


def test_the_plain_line_tells_what_is_left(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    line = progress._Line("data", 200, "files")
    line._done, line._begin = 50, 1000.0
    assert line.text(1010.0) == "data: 50 files of 200 files (25%) 0:10, 5 files/s left 0:30"
    endless = progress._Line("", None, "B")
    endless._done, endless._begin = 5 << 30, 0.0
    assert endless.text(3723.0) == "5.0 GiB 1:02:03, 1.4 MiB/s"
    empty = progress._Line("none", 0, "files")
    assert empty.text(empty._begin).startswith("none: 0 files")


@pytest.fixture
def served(tmp_path):
    """The address of a file of 300,000 bytes."""
    content = bytes(range(250)) * 1200
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "weights.bin").write_bytes(content)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/weights.bin", content
    server.shutdown()
    server.server_close()


def test_downloads_show_how_far_they_are(served, drawn, tmp_path):
    from dragon.vm import torch
    from dragon.vm.torchvision.datasets.utils import download_url
    address, content = served
    torch.hub.download_url_to_file(address, str(tmp_path / "a.bin"))
    download_url(address, tmp_path, "b.bin")
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes() == content
    assert "a.bin" in drawn.getvalue() and "b.bin" in drawn.getvalue() and "100%" in drawn.getvalue()
    before = drawn.getvalue()
    torch.hub.download_url_to_file(address, str(tmp_path / "c.bin"), progress=False)
    assert drawn.getvalue() == before


def test_keras_downloads_show_keras_bar(served, tmp_path, capsys):
    from dragon.vm import keras
    address, content = served
    path = keras.utils.get_file("weights.bin", address, cache_dir=str(tmp_path))
    with open(path, "rb") as file:
        assert file.read() == content
    shown = capsys.readouterr().out
    assert "Downloading data from" in shown and "300000/300000" in shown and shown.rstrip("\n").count("\n") <= 2
