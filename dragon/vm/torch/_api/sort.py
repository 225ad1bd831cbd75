"""Sorting, searching and counting: rows of PyTorch's names."""
ROWS = """
argsort                                      torch Tensor
bincount                                     torch Tensor
bucketize                                    torch
histc                                        torch Tensor
histogram -> (hist bin_edges)
isin(x=elements tests=test_elements)         torch
kthvalue -> (values indices)                 torch Tensor
median -> (values indices)
median_axis -> median(values indices)
mode -> (values indices)                     torch Tensor
msort                                        torch Tensor
nanmedian -> (values indices)
nanmedian_axis -> nanmedian(values indices)
nanquantile                                  torch Tensor
quantile                                     torch Tensor
searchsorted(x=input)                        torch
sort -> (values indices)                     torch Tensor
topk -> (values indices)                     torch Tensor
"""
