"""The guide to adding an operator shows what is in the files, and what it runs holds."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/guide/adding_an_operator.md"
SHOWN = re.compile(r"^```\{code-block\} \w+\n:caption: (\S+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
RUN = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(pattern):
    """Return what a pattern finds in the guide."""
    return pattern.findall(GUIDE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path, text", blocks(SHOWN), ids=lambda value: value.split("\n")[0].strip())
def test_what_is_shown_stands_in_its_file(path, text):
    assert text in (ROOT / path).read_text(encoding="utf-8")


def test_every_kind_of_file_is_shown():
    rooms = {path.split("/")[1] if path.startswith("core") else path.split("/")[0] for path, _ in blocks(SHOWN)}
    assert rooms == {"kernels", "ops", "tests", "dragon"}


@pytest.mark.parametrize("source", blocks(RUN), ids=["python"])
def test_what_is_run_holds(source):
    exec(compile(source, str(GUIDE), "exec"), {})
