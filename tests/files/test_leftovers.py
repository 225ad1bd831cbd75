"""What killed processes left beside their files: it goes at the next save there, and nobody else's goes."""
import os
import signal
import subprocess
import sys

import pytest

from dragon.core import files
from dragon.core.files import leftovers


def name_of(folder, process, start=None, name="a"):
    """Return a name that a process would write under."""
    mine = os.path.basename(leftovers.name_beside(str(folder / name)))
    before, _, _, after = mine.rsplit("-", 3)
    start = leftovers._start_of(process) if start is None else start
    return folder / f"{before}-{process}-{start}-{after}"


@pytest.fixture
def other():
    """A process that sleeps."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], cwd=os.sep)
    yield process
    process.kill()
    process.wait()


def test_the_next_save_takes_away_what_the_dead_left(tmp_path, other):
    """Also where this process has written long before."""
    files.write(tmp_path / "a", "first")
    for _ in range(2):
        half = name_of(tmp_path, other.pid)
        half.write_text("half")
        folder = name_of(tmp_path, other.pid, name="folder")
        folder.mkdir()
        (folder / "part").write_text("half")
        files.write(tmp_path / "b", "others save while it lives")
        assert half.exists() and folder.exists()
        half.rename(name_of(tmp_path, other.pid, 1))  # as if the number had been another process's before
        folder.rename(name_of(tmp_path, other.pid, 1, "folder"))
        files.write(tmp_path / "b", "now it is no more")
        assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_who_was_killed_but_not_yet_asked_for_is_dead(tmp_path):
    child = os.fork()
    if not child:
        with files.rewriting(tmp_path / "a") as file:
            file.write(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert len(os.listdir(tmp_path)) == 1
    files.write(tmp_path / "b", "")
    assert os.listdir(tmp_path) == ["b"]
    os.waitpid(child, 0)


def test_who_may_not_be_looked_at_is_alive(tmp_path, monkeypatch):
    """Other users' processes are hidden on some machines."""
    half = name_of(tmp_path, 1, 77)
    half.write_text("half")
    monkeypatch.setattr(leftovers, "_stat", lambda process: [])

    def refuse(process, number):
        raise PermissionError
    monkeypatch.setattr(os, "kill", refuse)
    files.write(tmp_path / "a", "")
    assert half.exists()


@pytest.mark.parametrize("process", ["9" * 30, "4194305", "0"])
def test_numbers_of_no_process(process, tmp_path):
    name_of(tmp_path, process, 1).write_text("half")
    files.write(tmp_path / "a", "")
    assert os.listdir(tmp_path) == ["a"]


def test_huge_folders_are_looked_through_now_and_then(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr(leftovers, "sweep", lambda folder: looked.append(folder) or 10 * leftovers.SMALL)
    for number in range(22):
        files.write(tmp_path / "a", str(number))
    assert len(looked) == 2
    monkeypatch.setattr(leftovers, "sweep", lambda folder: looked.append(folder) or leftovers.SMALL - 1)
    for number in range(20):
        files.write(tmp_path / "a", str(number))
    assert len(looked) == 22, "small ones are looked through at each save"


def test_groups(tmp_path):
    """Files whose names their writer makes: the one that names the others takes its place at the end."""
    place, seen = tmp_path / "a.rec", []
    place.write_text("old")
    place.chmod(0o640)
    (tmp_path / "real").mkdir()
    (tmp_path / "a.idx").symlink_to("real/index")
    with files.replacing_group(place) as path:
        assert os.path.basename(path) == "a.rec"
        for name, text in ((path, "new"), (path[:-3] + "idx", "index")):
            with open(name, "w") as file:
                file.write(text)
        seen.append(place.read_text())
    assert seen == ["old"] and place.read_text() == "new" and place.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "a.idx").is_symlink() and (tmp_path / "real" / "index").read_text() == "index"
    with pytest.raises(KeyError), files.replacing_group(place) as path:
        with open(path, "w") as file:
            file.write("half")
        raise KeyError
    with files.replacing_group(tmp_path / "folder") as path:
        os.mkdir(path)
    assert sorted(os.listdir(tmp_path)) == ["a.idx", "a.rec", "folder", "real"] and place.read_text() == "new"
    with pytest.raises(FileNotFoundError, match="nowhere"), files.replacing_group(tmp_path / "nowhere" / "a"):
        pass


def test_second_names(tmp_path, monkeypatch):
    source = str(tmp_path / "a")
    files.write(source, "content")
    files.second_name(source, str(tmp_path / "b"))
    assert os.path.samefile(source, tmp_path / "b")

    def refuse(*paths):
        raise PermissionError
    monkeypatch.setattr(os, "link", refuse)
    files.second_name(source, str(tmp_path / "b"))
    assert not os.path.samefile(source, tmp_path / "b") and (tmp_path / "b").read_text() == "content"
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
