"""How much machine code is compiled: what takes a compiler's time, told by a number that does not depend on the load.

A compiler makes about 40 KB of vector code in a second, whatever the file says: bytes of code are the part of a build's
time that can be tested. What grows beyond a bound here is most often a template that is instantiated for dtypes or
layouts that could share one loop, or a walk that is inlined into each of its callers
(docs/design/0033-compiling-less.md). Lower a bound when code has gone; raise it together with what it pays for.
"""
import importlib.util
import pathlib
import re

import dragon
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = pathlib.Path(dragon.__file__).resolve().parent / "lib"
# Millions of bytes: level libraries (any level), the engine, and kernels that are compiled once.
MOST = {"libdragon_cpu_v": 6.6, "libdragon": 4.1, "libdragon_cpu": 1.6}


def load_tool():
    """Return tools/compile_seconds.py as a module."""
    spec = importlib.util.spec_from_file_location("compile_seconds", ROOT / "tools" / "compile_seconds.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kind_of(path):
    """Return which bound a library has: its name without level and suffix."""
    return re.sub(r"(_v)?\d*\.so$", r"\1", path.name)


@pytest.mark.parametrize("library", sorted(path.name for path in LIBRARIES.glob("*.so") if kind_of(path) in MOST))
def test_a_library_is_within_its_bound(library):
    size = load_tool().text_bytes(LIBRARIES / library) / 1e6
    assert 0.1 < size <= MOST[kind_of(LIBRARIES / library)]


def test_a_log_is_read_with_the_latest_time_of_each_unit(tmp_path):
    (tmp_path / ".ninja_log").write_text("# ninja log v6\n0\t9000\t1\ta.o\tf\n10\t2510\t2\ta.o\tf\n0\t70\t3\tb.so\tf\n")
    assert load_tool().read_log(tmp_path) == {"a.o": 2.5}


def test_what_is_no_object_is_refused(tmp_path):
    (tmp_path / "unit.o").write_text("no object")
    with pytest.raises(ValueError, match="expected an ELF file"):
        load_tool().text_bytes(tmp_path / "unit.o")
