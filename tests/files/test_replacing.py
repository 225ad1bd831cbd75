"""A file that is written anew: its mode, links to it, what is no ordinary file, what the dead have left."""
import os
import stat
import subprocess
import sys

import pytest

from dragon.core import files
from dragon.core.files import folder, leftovers, whole


def mode(path):
    """Return a file's permissions."""
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture(autouse=True)
def _umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_modes(tmp_path):
    path = tmp_path / "a"
    files.write(path, b"new")
    assert mode(path) == 0o640 and path.read_bytes() == b"new"
    path.chmod(0o604)
    files.write(str(path), "text: ü")
    assert mode(path) == 0o604 and path.read_text(encoding="utf-8") == "text: ü"
    assert os.listdir(tmp_path) == ["a"]


def test_links_lead_on(tmp_path):
    (tmp_path / "folder").mkdir()
    for target in ("folder/a", "folder/new"):
        (tmp_path / "folder" / "a").write_text("old")
        link = tmp_path / f"link to {os.path.basename(target)}"
        link.symlink_to(target)
        files.write(link, "new")
        assert link.is_symlink() and (tmp_path / target).read_text() == "new"
    assert sorted(os.listdir(tmp_path / "folder")) == ["a", "new"]
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(OSError, match="symbolic links"):
        files.write(tmp_path / "circle", "new")


@pytest.mark.parametrize("name", ["", "no/folder", "slash/", ".", "x" * 300])
def test_errors_are_those_of_open(name, tmp_path):
    place = f"{tmp_path}/{name}" if name else name
    with pytest.raises(OSError) as theirs:
        open(place, "wb")
    with pytest.raises(OSError) as ours:
        files.write(place, b"")
    assert type(ours.value) is type(theirs.value) and ours.value.errno == theirs.value.errno
    assert os.listdir(tmp_path) == []


def test_what_is_no_file_is_written_straight(tmp_path):
    files.write("/dev/null", b"nothing")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    files.write(pipe, b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    script = "from dragon.core import files; files.write('/dev/stdout', b'out\\n'); print('more')"
    with open(tmp_path / "out", "w+") as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True, cwd=tmp_path)
        assert os.path.samestat(os.fstat(out.fileno()), os.stat(tmp_path / "out"))


def test_what_raises_changes_nothing(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error), files.rewriting(path, "w") as file:
            file.write("half of the n")
            raise error
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a"]


def test_others_see_old_or_new(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with open(path) as before, files.rewriting(path, "w", encoding="utf-8") as file:
        file.write("new")
        file.flush()
        assert path.read_text() == "old"
    with open(path) as after:
        assert after.read() == "new"
    assert before.closed


def test_leftovers_of_the_dead_go(tmp_path):
    mine = leftovers.name_beside(str(tmp_path / "a"))
    dead = mine.replace(f"-{os.getpid()}-", "-4194305-")
    again = mine.replace(f"{leftovers._start_of(os.getpid())}", "1")
    elsewhere = mine.replace(f".{leftovers._system()}-", ".01234567-")
    old = elsewhere.replace("01234567", "76543210")
    for path in (mine, dead, again, elsewhere, old):
        with open(path, "w") as file:
            file.write("half")
    (tmp_path / ".x.part").write_text("somebody's")
    os.utime(old, (0, 0))
    os.mkdir(dead + "-folder.part")
    files.sweep(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == sorted(
        [".x.part", *map(os.path.basename, (mine, elsewhere, dead + "-folder.part"))])


def test_long_names(tmp_path):
    path = tmp_path / ("ü" * 127)
    files.write(path, b"new")
    assert path.read_bytes() == b"new" and len(os.listdir(tmp_path)) == 1


def test_folders(tmp_path):
    place = tmp_path / "a"
    with files.replacing_folder(place, {"one"}) as folder:
        with open(os.path.join(folder, "one"), "w") as file:
            file.write("1")
    (place / "other").write_text("kept")
    (place / "below").mkdir()
    (place / "below" / "link").symlink_to("nowhere")
    with files.replacing_folder(place, {"one", "two"}) as folder:
        with open(os.path.join(folder, "two"), "w") as file:
            file.write("2")
        assert (place / "one").exists()
    assert sorted(os.listdir(place)) == ["below", "other", "two"] and (place / "other").read_text() == "kept"
    assert os.readlink(place / "below" / "link") == "nowhere" and os.listdir(tmp_path) == ["a"]
    with pytest.raises(ValueError), files.replacing_folder(place, {"two"}):
        raise ValueError
    assert (place / "two").read_text() == "2" and os.listdir(tmp_path) == ["a"]
    with pytest.raises(NotADirectoryError), files.replacing_folder(place / "two", {"x"}):
        pass


def test_folders_where_names_cannot_be_exchanged(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "_exchange", lambda one, other: False)
    test_folders(tmp_path)


def test_pairs_can_be_read_at_every_step(tmp_path, monkeypatch):
    head, data, spare = (str(tmp_path / name) for name in ("head", "data", "spare"))

    def read():
        with open(head) as file:
            name, number = file.read().split()
        with open(name) as file:
            return number, file.read()

    def write(number):
        files.replace_pair(head, data, spare, lambda path: open(path).read().startswith(spare),
                           lambda file, place: file.write(f"{place} {number}".encode()),
                           lambda file: file.write(str(number).encode()))
    write(0)
    seen, put = [], whole._put

    def watched(place, target):
        put(place, target)
        seen.append(read())
        if len(seen) == stop:
            raise RuntimeError("the process ends here")
    monkeypatch.setattr(whole, "_put", watched)
    for stop in (1, 2, 3, 4, 0):
        seen.clear()
        for number in (1, 2):
            try:
                write(number)
            except RuntimeError:
                continue
        assert all(number == content for number, content in seen) and len(seen) > 2
    assert sorted(os.listdir(tmp_path)) == ["data", "head"] and read() == ("2", "2")
