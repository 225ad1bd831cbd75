"""Every program of `examples/tensorflow` prints under `dragon run` what it prints under genuine Keras, line by line."""
import pathlib

import pytest

from harness.interpreter import GUESTS
from harness.printed import check_lines, genuine_lines, run_program

FOLDER = pathlib.Path(__file__).parents[4] / "examples" / "tensorflow"
# How far numbers may be apart, relative to the larger, and why where it is not the usual few ulp after some steps.
USUAL = 5e-3
LOOSER = {
    "mixed_precision": 0.08,  # products in bfloat16 round at other places: 8 bits of precision
    "dcgan": 0.03,  # two networks against each other amplify the last bits
    "digits_convnet": 0.03,  # 96 steps at a high rate, through norms: the last bits grow
}

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
@pytest.mark.long("an example trains a model")
def test_prints_the_same(name, tmp_path):
    script = str(FOLDER / f"{name}.py")
    tolerance = LOOSER.get(name, USUAL)
    theirs = genuine_lines("tensorflow", script, tmp_path, tolerance, TF_CPP_MIN_LOG_LEVEL="3",
                           KERAS_BACKEND="tensorflow")
    mine = run_program(["-m", "dragon", "run", script], tmp_path, f"{GUESTS}; import sklearn.datasets, keras")
    check_lines(mine, theirs, tolerance, "Keras")
