"""Importing Dragon is cheap: no heavy package comes with it, and it takes a blink."""
import os
import subprocess
import sys

# Five times the aim of 0.2 s, in time of the processor: a busy machine may not fail it, only a blunder.
PATIENCE_SECONDS = 1.0
PROGRAM = """
import sys, time
start = time.process_time()
import dragon
print(time.process_time() - start)
print(*sorted({name.split(".")[0] for name in sys.modules}))
"""


def import_dragon():
    """Return the seconds an import takes in a fresh process, the best of three, and the packages it brought."""
    outputs = [subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, cwd="/",
                              env=os.environ).stdout.splitlines() for _ in range(3)]
    return min(float(seconds) for seconds, _ in outputs), set(outputs[0][1].split())


def test_import_is_quick_and_lean():
    seconds, packages = import_dragon()
    assert seconds < PATIENCE_SECONDS
    assert not packages & {"torch", "tensorflow", "scipy", "sklearn", "onnx", "cupy", "matplotlib", "numpy"}
