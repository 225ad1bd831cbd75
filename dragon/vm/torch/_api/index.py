"""Reading and writing at indices: rows of PyTorch's names."""
ROWS = """
argwhere                                       torch Tensor
embedding(index=indices)
embedding_bag(index=indices)
gather                                         torch Tensor
index_add(src=source)                          torch Tensor Tensor_
index_copy(src=source)                         torch Tensor Tensor_
index_fill                                     torch Tensor Tensor_
index_put                                      torch torch_ Tensor Tensor_
index_reduce(src=source)                       torch Tensor Tensor_
index_select                                   torch Tensor
masked_fill                                    torch Tensor Tensor_
masked_scatter(src=source)                     torch Tensor Tensor_
masked_select                                  torch Tensor
one_hot(x=tensor)                              functional _nn
put                                            torch Tensor Tensor_
repeat_interleave                              torch Tensor
scatter ~ ScatterBackward0
scatter_add                                    torch Tensor Tensor_
scatter_reduce                                 torch Tensor Tensor_
take                                           torch Tensor
take_along_dim=take_along_axis(index=indices)  torch Tensor
"""
