"""Packages from PyPI that train in several processes, unmodified: the same numbers under Dragon and under PyTorch."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

PROGRAMS = pathlib.Path(__file__).parent / "programs"
# How each is started: by itself, or by `torchrun`.
PACKAGES = {"lightning": False, "accelerate": True, "transformers": True}
TOLERANCE = 2e-4  # of numbers after some steps of training in single precision


def execute(name, folder, genuine):
    """Return what each process of a program has printed, by rank."""
    import dragon
    folder.mkdir()
    root = os.path.dirname(os.path.dirname(dragon.__file__))
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    program = [str(PROGRAMS / f"processes_{name}.py"), str(folder)]
    if PACKAGES[name]:
        program = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *program]
    command = [sys.executable, *([] if genuine else ["-m", "dragon", "run"]), *program]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1500,
                          env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"rank"')]
    return sorted(found, key=lambda said: said["rank"])


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", PACKAGES)
def test_package(name, tmp_path):
    pytest.importorskip("torch", reason="PyTorch itself is what the numbers are compared with")
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    import dragon
    theirs, mine = (execute(name, tmp_path / side, side == "genuine") for side in ("genuine", "dragon"))
    assert [said["rank"] for said in mine] == [said["rank"] for said in theirs] == [0, 1]
    for one, other in zip(mine, theirs):
        assert one["torch"].startswith(os.path.dirname(dragon.__file__)) and one["torch"] != other["torch"]
        assert one["words"] == other["words"]
        assert one["numbers"] == pytest.approx(other["numbers"], rel=TOLERANCE, abs=TOLERANCE)
