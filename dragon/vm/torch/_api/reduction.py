"""Reductions and scans: rows of PyTorch's names."""
ROWS = """
torch Tensor: all amax amin any argmax argmin count_nonzero logcumsumexp mean nanmean nansum prod sum
aminmax -> (min max)        torch Tensor
cummax -> (values indices)  torch Tensor
cummin -> (values indices)  torch Tensor
cumprod                     torch Tensor Tensor_
cumsum                      torch Tensor Tensor_
logsumexp                   torch Tensor special
max ~ MaxBackward1
max_axis -> max(values indices) ~ MaxBackward0
min ~ MinBackward1
min_axis -> min(values indices) ~ MinBackward0
norm ~ LinalgVectorNormBackward0
"""
