"""Every program of `examples/torch` prints with its nets and optimizers compiled what it prints without."""
import os
import pathlib
import re

import pytest

from harness import captured, interpreter

HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "torch"
COMPILE_ALL = HERE / "programs" / "compile_all.py"
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
QUICK = ("vae", "gcn")
SECOND = "it differentiates gradients, and those of compiled calls have none, as in PyTorch"
LEFT_OUT = {"maml": SECOND, "wgan_gp": SECOND}
NO_NET = ("custom_function",)
# How far numbers may be apart, relative to those of eager calls. Where steps are divided by the size of tiny gradients,
# the last bits grow: fused kernels round at other places, which ones depends on the processor.
USUAL, LOOSER = 5e-3, {"digits_classifier": 0.02}

pytestmark = pytest.mark.skipif(not captured.AVAILABLE, reason="this engine does not trace")


def run(folder, *arguments):
    """Return what a program under `dragon run` prints, and what it says on the standard error."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = interpreter.run(["-m", "dragon", "run", *arguments], folder, env=environment,
                           preload=f"{interpreter.GUESTS}; import sklearn.datasets, torch")
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines(), done.stderr


def differ(mine, theirs, tolerance):
    """Return whether two lines differ in words, or in numbers by more than rounding does after some steps."""
    numbers = zip(NUMBER.findall(mine), NUMBER.findall(theirs))
    return NUMBER.sub("#", mine) != NUMBER.sub("#", theirs) or any(
        abs(float(a) - float(b)) > tolerance * abs(float(b)) + 1.5 * 10.0 ** -len(b.partition(".")[2])
        for a, b in numbers)


@pytest.mark.parametrize("name", [
    pytest.param(path.stem, marks=[] if path.stem in QUICK else [pytest.mark.slow])
    for path in sorted(EXAMPLES.glob("*.py")) if path.stem not in LEFT_OUT])
def test_prints_the_same_when_compiled(name, tmp_path):
    script = EXAMPLES / f"{name}.py"
    eager, _ = run(tmp_path, script)
    compiled, report = run(tmp_path, COMPILE_ALL, script)
    assert len(compiled) == len(eager) > 0
    tolerance = LOOSER.get(name, USUAL)
    apart = [(a, b) for a, b in zip(compiled, eager) if differ(a, b, tolerance)]
    assert not apart, "\n".join(f"compiled: {a}\neager:    {b}" for a, b in apart[:5])
    graphs = int(re.search(r"compiled: \d+ functions, (\d+) graphs", report)[1])
    assert graphs or name in NO_NET, report[-2000:]
