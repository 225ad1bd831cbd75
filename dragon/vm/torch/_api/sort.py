"""Sorting, searching and counting: rows of PyTorch's names."""
ROWS = """
torch Tensor: argsort bincount histc msort nanquantile quantile
bucketize                             torch
histogram -> (hist bin_edges)
isin(x=elements tests=test_elements)  torch
kthvalue -> (values indices)          torch Tensor
median -> (values indices)
median_axis -> median(values indices)
mode -> (values indices)              torch Tensor
nanmedian -> (values indices)
nanmedian_axis -> nanmedian(values indices)
searchsorted(x=input)                 torch
sort -> (values indices)              torch Tensor
topk -> (values indices)              torch Tensor
"""
