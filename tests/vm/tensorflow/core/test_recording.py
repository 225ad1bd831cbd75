"""Whoever imports PyTorch's face finds recording on, whichever face was opened first."""
import os
import pathlib
import subprocess
import sys

import dragon
import pytest

PROGRAM = """
import dragon.vm.{first}
import dragon.vm.{second}
import dragon.vm.torch as torch
import dragon.vm.tensorflow as tf
assert torch.is_grad_enabled()
with tf.GradientTape():
    pass
weight = torch.ones(2, requires_grad=True)
(weight * 3).sum().backward()
assert weight.grad.tolist() == [3.0, 3.0]
"""


@pytest.mark.parametrize("first, second", [("tensorflow", "torch"), ("torch", "keras"), ("keras", "torch")])
def test_recording_is_on(first, second, tmp_path):
    """In any order, and behind a tape."""
    root = str(pathlib.Path(dragon.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(first=first, second=second)], capture_output=True,
                          text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": root})
    assert done.returncode == 0, done.stderr
