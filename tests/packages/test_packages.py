"""Packages from PyPI that import torch, unmodified: the same numbers under Dragon and under PyTorch."""
import importlib.util
import json
import os
import pathlib

import pytest

from harness import interpreter

PROGRAMS = pathlib.Path(__file__).parent / "programs"
# Of a program: what it imports besides torch and the package of its name.
PACKAGES = {"einops": [], "safetensors": [], "torchmetrics": [], "timm": ["torchvision"], "transformers": [],
            "lightning": [], "accelerate": [], "diffusers": [], "vit_pytorch": ["einops"], "torchdiffeq": [],
            "segmentation_models_pytorch": ["timm"], "pytorch_metric_learning": [], "torch_geometric": [],
            "peft": ["transformers"], "kornia": [], "gpytorch": [], "x_transformers": [],
            "transformers_onnx": ["transformers", "onnxruntime"], "transformers_compiled": ["transformers"],
            "transformers_saved": ["transformers"]}
# By the last word of a place: differences allowed, relative to the largest number there.
TOLERANCE = {"double": 1e-8, "gradients": 1e-7}


def execute(words, environment, folder, preload):
    """Run a program elsewhere than in the checkout; return what it said if it failed."""
    result = interpreter.run(words, folder, env=environment, preload=preload)
    return result.stderr[-3000:] if result.returncode else None


def differences(mine, theirs, place=""):
    """Yield the places where numbers differ."""
    if isinstance(theirs, dict):
        if mine.keys() != theirs.keys():
            yield f"{place}: {sorted(set(mine) ^ set(theirs))[:5]} on one side only"
            return
        for key in theirs:
            yield from differences(mine[key], theirs[key], f"{place}/{key}")
    elif len(mine) != len(theirs):
        yield f"{place}: {len(mine)} numbers beside {len(theirs)}"
    else:
        scale = max([abs(number) for number in theirs if number == number] or [0])
        allowed = TOLERANCE.get(place.rpartition("/")[2], 1e-4) * max(scale, 1e-3)
        for one, other in zip(mine, theirs):
            if not (one == other or abs(one - other) <= allowed or one != one and other != other):
                yield f"{place}: {one} beside {other}, the largest is {scale}"
                return


@pytest.mark.long("a package from elsewhere is imported and run on PyTorch and on Dragon")
@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", PACKAGES)
def test_package(name, tmp_path):
    pytest.importorskip("torch", reason="PyTorch itself is what the numbers are compared with")
    for package in [name.partition("_")[0] if name.startswith("transformers_") else name, *PACKAGES[name]]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    import dragon
    root = os.path.dirname(os.path.dirname(dragon.__file__))
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    program = str(PROGRAMS / f"use_{name}.py")
    assert execute([program, str(tmp_path), "write"], environment, tmp_path, "import torch") is None
    failed = execute(["-m", "dragon", "run", program, str(tmp_path), "read"], environment, tmp_path,
                     f"{interpreter.GUESTS}; import torch")
    assert failed is None, failed
    theirs, mine = (json.loads((tmp_path / f"{role}.json").read_text()) for role in ("write", "read"))
    assert mine["torch"].startswith(os.path.dirname(dragon.__file__)) and mine["torch"] != theirs["torch"]
    assert not list(differences(mine["results"], theirs["results"]))
