"""Every program of `examples/torch` prints under `dragon run` what it prints under genuine PyTorch, line by line."""
import pathlib

import pytest

from harness.interpreter import GUESTS
from harness.printed import check_lines, genuine_lines, run_program

FOLDER = pathlib.Path(__file__).parents[4] / "examples" / "torch"
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


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
@pytest.mark.long("an example trains a model")
def test_prints_the_same(name, tmp_path):
    script = str(FOLDER / f"{name}.py")
    tolerance = LOOSER.get(name, USUAL)
    theirs = genuine_lines("torch", script, tmp_path, tolerance)
    mine = run_program(["-m", "dragon", "run", script], tmp_path, f"{GUESTS}; import sklearn.datasets, torch")
    check_lines(mine, theirs, tolerance, "PyTorch")
