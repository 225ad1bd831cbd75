"""Normalization: rows of PyTorch's names."""
ROWS = """
batch_norm ~ NativeBatchNormBackward0
group_norm ~ NativeGroupNormBackward0  torch
instance_norm                          torch
layer_norm ~ NativeLayerNormBackward0  torch functional
log_softmax                            torch Tensor special
native_batch_norm ~ NativeBatchNormBackward0  torch
native_layer_norm                      torch
rms_norm                               torch
softmax                                torch Tensor special
"""
