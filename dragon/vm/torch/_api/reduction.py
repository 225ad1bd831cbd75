"""Reductions and scans: rows of PyTorch's names."""
ROWS = """
all                                             torch Tensor
amax                                            torch Tensor
amin                                            torch Tensor
aminmax -> (min max)                            torch Tensor
any                                             torch Tensor
argmax                                          torch Tensor
argmin                                          torch Tensor
count_nonzero                                   torch Tensor
cummax -> (values indices)                      torch Tensor
cummin -> (values indices)                      torch Tensor
cumprod                                         torch Tensor Tensor_
cumsum                                          torch Tensor Tensor_
logcumsumexp                                    torch Tensor
logsumexp                                       torch Tensor special
max ~ MaxBackward1
max_axis -> max(values indices) ~ MaxBackward0
mean                                            torch Tensor
min ~ MinBackward1
min_axis -> min(values indices) ~ MinBackward0
nanmean                                         torch Tensor
nansum                                          torch Tensor
norm ~ LinalgVectorNormBackward0
prod                                            torch Tensor
sum                                             torch Tensor
"""
