"""Making, moving and reshaping: rows of PyTorch's names."""
ROWS = """
torch Tensor: adjoint broadcast_to clone cross diag diagflat fliplr flipud kron moveaxis movedim permute select squeeze
torch Tensor: swapdims t trace transpose unbind unflatten unsqueeze
torch: cat concat=cat concatenate=cat column_stack dstack hstack stack view_as_real vstack row_stack=vstack
Tensor: contiguous expand_as repeat reshape_as view_as
as_strided(strides=stride offset=storage_offset)                 torch Tensor
cast ~ ToCopyBackward0
chunk ~ SplitBackward0                                           torch Tensor
copy ~ CopyBackwards
diag_embed(axis1=dim1 axis2=dim2)                                torch Tensor
diagonal(axis1=dim1 axis2=dim2)                                  torch Tensor
empty_strided(strides=stride)
expand(shape=size)                                               Tensor
flatten(start_axis=start_dim stop_axis=end_dim) ~ ViewBackward0  torch Tensor
flip(axis=dims)                                                  torch Tensor
full(value=fill_value)
full_like(value=fill_value)
histogramdd -> (hist bin_edges)
matrix_transpose ~ TransposeBackward0
narrow ~ SliceBackward0                                          torch Tensor
numpy_t ~ PermuteBackward0
pad ~ ConstantPadNdBackward0                                     _nn
ravel ~ ViewBackward0                                            torch Tensor
renorm                                                           torch Tensor Tensor_
reshape(shape=shape) ~ ViewBackward0                             torch Tensor
roll(axis=dims)                                                  torch Tensor
rot90(axis=dims)                                                 torch Tensor
split(size=split_size)
split_with_sizes(sizes=split_sizes)                              torch Tensor
swapaxes(axis0=axis0 axis1=axis1)                                torch Tensor
tile(repeats=dims)                                               torch Tensor
tril                                                             torch Tensor Tensor_
tril_indices(rows=row columns=col)
triu                                                             torch Tensor Tensor_
triu_indices(rows=row columns=col)
unfold(axis=dimension)                                           Tensor
view(shape=size)
view_as_complex(x=input)                                         torch
"""
