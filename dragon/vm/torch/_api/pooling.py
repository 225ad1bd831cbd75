"""Pooling: rows of PyTorch's names."""
ROWS = """
_nn: adaptive_avg_pool3d adaptive_max_pool2d=adaptive_max_pool2d_with_indices
_nn: adaptive_max_pool3d=adaptive_max_pool3d_with_indices max_pool2d_with_indices max_pool3d_with_indices
adaptive_avg_pool1d                               torch functional
adaptive_avg_pool2d ~ AdaptiveAvgPool2DBackward0  _nn
avg_pool1d                                        torch functional
avg_pool2d ~ AvgPool2DBackward0                   functional _nn
avg_pool3d ~ AvgPool3DBackward0                   functional _nn
max_pool2d ~ MaxPool2DWithIndicesBackward0
max_pool3d ~ MaxPool3DWithIndicesBackward0
"""
