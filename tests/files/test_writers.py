"""Every writer of a whole file stands in the table, writes what it reads, and leaves nothing beside it."""
import os
import pathlib
import sys

import pytest

from dragon.core import files
from dragon.core.files import folder, group, whole
from house.writes import read_writes

pytest.importorskip("h5py")
pytest.importorskip("onnx")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import writers  # noqa: E402  (the path must be set before)

PACKAGE = pathlib.Path(files.__file__).resolve().parents[2]
OWN = os.path.dirname(files.__file__)


def callers():
    """Yield the places in the package that led to a writing, as `read_writes` names them."""
    frame = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(f"{PACKAGE}{os.sep}") and not path.startswith(OWN):
            parts = pathlib.Path(path).relative_to(PACKAGE.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            yield name, frame.f_lineno
        frame = frame.f_back


@pytest.fixture(scope="module")
def reached(tmp_path_factory):
    """What the rows of the table reach: {(module, line)}, and what went wrong on the way."""
    seen, troubles = set(), []

    def watched(target):
        seen.update(callers())
        return name_beside(target)
    name_beside = whole.name_beside
    with pytest.MonkeyPatch.context() as patch:
        for module in (whole, folder, group):
            patch.setattr(module, "name_beside", watched)
        for name, (kind, write, read) in writers.WRITERS.items():
            above = tmp_path_factory.mktemp("files")
            (above / "files").mkdir()
            path = str(above / "files" / kind)
            for number in (3, 7):
                write(path, number)
                found = read(path)
                if found != number:
                    troubles.append(f"{name}: read {found}, expected {number}")
            if left := writers.leftovers(above / "files"):
                troubles.append(f"{name}: left {left}")
    return seen, troubles


def test_what_is_written_is_read(reached):
    assert not reached[1]


def test_no_writer_is_missing_from_the_table(reached):
    """A place counts as reached if a line of the call was on the way: calls may have several lines."""
    _, through = read_writes()
    lines = {}
    for module, line in reached[0]:
        lines.setdefault(module, set()).add(line)
    missing = {f"{write.module}:{write.function}" for write in through
               if not any(write.line <= line <= write.last for line in lines.get(write.module, ()))}
    astray = sorted(missing - set(writers.ELSEWHERE))
    assert not astray, f"in no row of tests/files/writers*.py: {astray}"
    assert set(writers.ELSEWHERE) <= missing, sorted(set(writers.ELSEWHERE) - missing)
    assert set(writers.COMPOSED) <= set(writers.WRITERS)
