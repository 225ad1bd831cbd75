"""The table of faults fits the sources, and hunts are judged rightly; the hunt itself is `make hunt-faults`."""
import importlib
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent


def load():
    """Return the modules of the hunt, which stand beside other modules of the same short names."""
    sys.path.insert(0, str(HERE))
    try:
        return importlib.import_module("faults"), importlib.import_module("fault_table")
    finally:
        sys.path.remove(str(HERE))


faults, table = load()


@pytest.mark.parametrize("fault", table.FAULTS, ids=lambda fault: fault.name)
def test_an_entry_fits_the_sources(fault):
    text = (faults.ROOT / fault.file).read_text(encoding="utf-8")
    assert faults.changed(fault, text) != text
    assert fault.paths and all((faults.ROOT / path).exists() for path in fault.paths)


def test_names_differ():
    assert len({fault.name for fault in table.FAULTS}) == len(table.FAULTS) >= 40


def test_an_entry_that_does_not_fit_is_named():
    with pytest.raises(faults.Stale, match="gelu_constant: its old text occurs 0 times .* must follow the sources"):
        faults.changed(table.KERNELS[0], "")


@pytest.mark.parametrize("code, told, outcome, test", [
    (1, [{"began": "a"}, {"failed": "a", "words": "no"}], "caught", "a"),
    (2, [{"failed": "file.py", "words": "ImportError"}], "caught", "file.py"),
    (-11, [{"began": "a"}, {"passed": "a"}, {"began": "b"}], "caught", "b"),
    (0, [{"began": "a"}, {"passed": "a"}], "missed", None),
    (0, [], "error", None), (5, [], "error", None), (4, [], "error", None), (None, [{"began": "a"}], "late", "a")])
def test_judging(code, told, outcome, test):
    found = faults.judge(code, told, "")
    assert (found["outcome"], found["test"]) == (outcome, test)
