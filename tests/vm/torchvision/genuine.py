"""The genuine torchvision as oracle, whose own compiled operators may be missing: its Python is enough."""
import importlib.util
import sys

import pytest
import torch

OPERATORS = """
nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
"""


def load():
    """Return genuine torchvision, or skip the module's tests."""
    pytest.importorskip("PIL")
    if "torchvision" in sys.modules:
        return sys.modules["torchvision"]
    if importlib.util.find_spec("torchvision") is None:
        pytest.skip("genuine torchvision is not installed", allow_module_level=True)
    try:
        torch.ops.load_library(importlib.util.find_spec("torchvision").submodule_search_locations[0] + "/_C.so")
    except OSError:
        load.library = torch.library.Library("torchvision", "FRAGMENT")  # operators live as long as their library
        for line in OPERATORS.strip().splitlines():
            load.library.define(line)
    import torchvision
    return torchvision
