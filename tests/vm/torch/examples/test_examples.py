"""Every program of `examples/torch` prints under `dragon run` what it prints under genuine PyTorch, line by line."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="genuine PyTorch is the oracle")
FOLDER = pathlib.Path(__file__).parents[4] / "examples" / "torch"
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
# How far numbers may be apart, relative to the larger, and why where it is not the usual few ulp after some steps.
USUAL = 2e-3
LOOSER = {
    "mixed_precision": 0.08,  # products in bfloat16 round at other places: 8 bits of precision
    # Steps divided by the size of tiny gradients make the last bits of float32 grow; in float64 both print the same
    # nine digits.
    "char_rnn": 0.02,
    "digits_classifier": 0.02,
    "gan": 0.02,  # two networks against each other amplify the last bits
    "wgan_gp": 0.02,
    "lbfgs": 0.02,  # a line search decides on comparisons of nearly equal numbers
}


def run(arguments, folder):
    """Return the lines that a program prints; it must end well within two minutes.

    It runs elsewhere than in the checkout, so that what was installed is what runs.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120, env=environment,
                          cwd=folder)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def differ(mine, theirs, tolerance):
    """Return whether two lines differ in words, or in numbers by more than the tolerance."""
    if NUMBER.sub("#", mine) != NUMBER.sub("#", theirs):
        return True
    for a, b in zip(NUMBER.findall(mine), NUMBER.findall(theirs)):
        last_digit = 10.0 ** -len(a.partition(".")[2])
        if abs(float(a) - float(b)) > tolerance * max(abs(float(a)), abs(float(b))) + 1.5 * last_digit:
            return True
    return False


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_prints_the_same(name, tmp_path):
    script = str(FOLDER / f"{name}.py")
    theirs = run([script], tmp_path)
    mine = run(["-m", "dragon", "run", script], tmp_path)
    assert len(mine) == len(theirs) > 0
    tolerance = LOOSER.get(name, USUAL)
    apart = [(a, b) for a, b in zip(mine, theirs) if differ(a, b, tolerance)]
    assert not apart, "\n".join(f"dragon:  {a}\nPyTorch: {b}" for a, b in apart[:5])
