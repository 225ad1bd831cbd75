"""Which tests are run: those of a quick sample, and those that a change reaches."""
import types

import pytest

from harness import quick, reach


class Item:
    """Stands for a test."""

    def __init__(self, name, slow=False, row=None):
        self.nodeid, self.slow = f"../tests/{name}", slow
        self.callspec = types.SimpleNamespace(params={"row": types.SimpleNamespace(name=row)} if row else {})

    def get_closest_marker(self, name):
        return self.slow or None


def names(items):
    """Return the names of tests."""
    return [quick.plain(item.nodeid) for item in items]


def test_a_table_is_read_as_it_was_written(tmp_path):
    table = tmp_path / "durations.tsv"
    quick.write_table({"../x/tests/a/test_a.py::test[1]": (9.0, 3.0), "tests/a/test_a.py::test[2]": (0.4, 0.5),
                       "tests/a/test_a.py::test[3]": (0.05, 90.0), "tests/b/test_b.py::test": (1.0, 0.2)}, table)
    assert table.read_text() == "3.6\t3\ta/test_a.py\n0.2\t1\tb/test_b.py\n3.0\t1\ta/test_a.py::test[1]\n"
    files, slow = quick.read_table(table)
    assert slow == {"a/test_a.py::test[1]": 3.0}
    assert files == {"a/test_a.py": pytest.approx(0.3), "b/test_b.py": 0.2}
    assert quick.read_table(tmp_path / "none.tsv") == ({}, {})


def test_a_sample_has_something_of_every_file_and_row():
    items = [Item(f"a.py::test[{n}]") for n in range(50)] + [Item("b.py::test", slow=True)]
    items += [Item(f"rows.py::test[{row} {n}]", row=row) for row in ("add", "mul") for n in range(9)]
    table = {"a.py": 0.1, "b.py": 1.0, "rows.py": 0.1}, {}
    least = names(quick.choose(items, 0, 0, table))
    assert [name.partition("::")[0] for name in least] == ["a.py", "b.py", "rows.py", "rows.py"]
    assert "add" in least[2] and "mul" in least[3]
    more = names(quick.choose(items, 1.3 + 2.05, 0, table))
    assert len(more) == 4 + 20 and more == [name for name in names(items) if name in set(more)]
    assert names(quick.choose(items, 3.35, 0, table)) == more != names(quick.choose(items, 3.35, 1, table))


def test_what_takes_long_is_in_no_sample_unless_there_is_nothing_else():
    items = [Item("a.py::long"), Item("a.py::short"), Item("b.py::long"), Item("b.py::longer")]
    table = {"a.py": 0.1, "b.py": 0.1}, {"a.py::long": 5.0, "b.py::long": 2.0, "b.py::longer": 3.0}
    assert names(quick.choose(items, 1e9, 0, table)) == ["a.py::short", "b.py::long"]


@pytest.fixture(scope="module")
def suite():
    """What the tests and the package name."""
    return reach.Suite(reach.Package())


@pytest.fixture
def reached(suite, monkeypatch):
    """Return the tests that changes reach."""
    monkeypatch.setattr(reach, "Package", lambda: suite.package)
    monkeypatch.setattr(reach, "Suite", lambda package: suite)
    return lambda *changed: reach.tests_reached(changed, ["stft", "istft", "relu"])


@pytest.mark.long("the first to ask has all files of the package and of the tests read")
def test_a_test_that_changed_is_run(reached):
    assert reached("tests/house/test_samples.py") == ({"tests/house/test_samples.py"}, set())


def test_a_helper_reaches_the_tests_that_import_it(reached):
    found, operators = reached("tests/harness/quick.py")
    assert "tests/house/test_samples.py" in found and len(found) < 5 and not operators


def test_a_module_reaches_tests_by_imports_and_by_names_that_a_face_shows(reached):
    found, operators = reached("dragon/vm/shared/ragged/axes.py")
    assert "tests/vm/keras/layers/test_parted.py" in found and not operators
    assert "tests/vm/tensorflow/ragged/test_ragged.py" in found or any("/ragged/" in name for name in found)
    assert not any(name.startswith("tests/vm/torchvision/") for name in found)


def test_a_kernel_reaches_rows_and_mentions(reached):
    found, operators = reached("core/ops/fft/stft.cc")
    assert operators == {"stft", "istft"}
    assert found and all("stft" in (reach.ROOT / name).read_text() for name in found)


def test_what_decides_about_everything_reaches_everything(reached):
    for path in ("core/framework/apply.cc", "pyproject.toml", "tests/conftest.py"):
        assert reached("README.md", path) == (None, {"stft", "istft", "relu"})


def test_pages_reach_the_tests_of_pages(reached):
    found, _ = reached("docs/guide/planning.md")
    assert "tests/docs/test_pages.py" in found and all(name.startswith("tests/docs/") for name in found)


def test_nothing_reaches_nothing(reached):
    assert reached() == (set(), set()) == reached("CITATION.cff")


def test_an_unknown_revision_is_told():
    with pytest.raises(ValueError, match="--changed-since: got 'no-such-revision', of which git says: "):
        reach.changed_files("no-such-revision")
