"""The guide's page on seeing: every block runs by itself, and writes what it says."""
import os
import pathlib
import re

import pytest

from harness import interpreter

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/seeing.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: re.findall(r"\w+\.\w+\(", block)[0])
def test_a_block_runs_as_it_stands(block, tmp_path):
    (tmp_path / "block.py").write_text(block)  # a file of its own: lines are told by it
    done = interpreter.run(["block.py"], tmp_path, timeout=240, env={**os.environ, "DRAGON_BROWSER": "0"},
                           preload="import numpy, dragon")
    assert done.returncode == 0, done.stderr
    for name in re.findall(r'save\w*\("(.*?)"\)', block):
        assert (tmp_path / name).stat().st_size > 100
    shown = re.search(re.escape(block) + r"```\n\n```\n(.*?)^```", GUIDE.read_text(encoding="utf-8"),
                      re.DOTALL | re.MULTILINE)
    assert shown is None or done.stdout.startswith(shown[1])


def test_there_are_blocks():
    assert len(BLOCKS) >= 6
