"""Steps of the backward graph that are no calls of a name: rows of PyTorch's names."""
ROWS = """
accumulate_grad ~ AccumulateGrad
getitem ~ SliceBackward0
index_get ~ IndexBackward0
setitem ~ CopySlices
"""
