"""Genuine torchvision, whose own compiled operators may not fit the PyTorch that is there: its Python is enough."""
import importlib
import importlib.util
import sys

OPERATORS = """
nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor
qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
roi_align(Tensor input, Tensor rois, float scale, SymInt height, SymInt width, int ratio, bool aligned) -> Tensor
roi_pool(Tensor input, Tensor rois, float scale, SymInt height, SymInt width) -> (Tensor, Tensor)
ps_roi_align(Tensor input, Tensor rois, float scale, SymInt height, SymInt width, int ratio) -> (Tensor, Tensor)
ps_roi_pool(Tensor input, Tensor rois, float scale, SymInt height, SymInt width) -> (Tensor, Tensor)
deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, \
SymInt pad_h, SymInt pad_w, SymInt dil_h, SymInt dil_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor
"""


def load():
    """Return genuine torchvision, or raise ImportError where it is not installed."""
    if "torchvision" in sys.modules:
        return sys.modules["torchvision"]
    spec = importlib.util.find_spec("torchvision")
    if spec is None:
        raise ImportError("genuine torchvision is not installed")
    torch = importlib.import_module("torch")
    try:
        torch.ops.load_library(spec.submodule_search_locations[0] + "/_C.so")
    except OSError:
        load.library = torch.library.Library("torchvision", "FRAGMENT")  # operators live as long as their library
        for line in OPERATORS.strip().splitlines():
            load.library.define(line)
    return importlib.import_module("torchvision")
