"""Reading and writing at indices: rows of PyTorch's names."""
ROWS = """
torch Tensor: argwhere gather index_select masked_select repeat_interleave take
torch Tensor Tensor_: index_fill masked_fill put scatter_add scatter_reduce
embedding(index=indices)
embedding_bag(index=indices)
index_add(src=source)                          torch Tensor Tensor_
index_copy(src=source)                         torch Tensor Tensor_
index_put                                      torch torch_ Tensor Tensor_
index_reduce(src=source)                       torch Tensor Tensor_
masked_scatter(src=source)                     torch Tensor Tensor_
one_hot(x=tensor)                              functional _nn
scatter ~ ScatterBackward0
take_along_dim=take_along_axis(index=indices)  torch Tensor
"""
