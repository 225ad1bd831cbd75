"""Making, moving and reshaping: rows of PyTorch's names."""
ROWS = """
adjoint                                                     torch Tensor
as_strided(strides=stride offset=storage_offset)            torch Tensor
broadcast_to                                                torch Tensor
cast ~ ToCopyBackward0
cat                                                         torch
concat=cat                                                  torch
concatenate=cat                                             torch
chunk ~ SplitBackward0                                      torch Tensor
clone                                                       torch Tensor
column_stack                                                torch
contiguous                                                  Tensor
copy ~ CopyBackwards
cross                                                       torch Tensor
diag                                                        torch Tensor
diag_embed(axis1=dim1 axis2=dim2)                           torch Tensor
diagflat                                                    torch Tensor
diagonal(axis1=dim1 axis2=dim2)                             torch Tensor
dstack                                                      torch
empty_strided(strides=stride)
expand(shape=size)                                          Tensor
expand_as                                                   Tensor
flatten(start_axis=start_dim stop_axis=end_dim) ~ ViewBackward0  torch Tensor
flip(axis=dims)                                             torch Tensor
fliplr                                                      torch Tensor
flipud                                                      torch Tensor
full(value=fill_value)
full_like(value=fill_value)
histogramdd -> (hist bin_edges)
hstack                                                      torch
kron                                                        torch Tensor
matrix_transpose ~ TransposeBackward0
moveaxis                                                    torch Tensor
movedim                                                     torch Tensor
narrow ~ SliceBackward0                                     torch Tensor
numpy_t ~ PermuteBackward0
pad ~ ConstantPadNdBackward0                                _nn
permute                                                     torch Tensor
ravel ~ ViewBackward0                                       torch Tensor
renorm                                                      torch Tensor Tensor_
repeat                                                      Tensor
reshape(shape=shape) ~ ViewBackward0                        torch Tensor
reshape_as                                                  Tensor
roll(axis=dims)                                             torch Tensor
rot90(axis=dims)                                            torch Tensor
select                                                      torch Tensor
split(size=split_size)
split_with_sizes(sizes=split_sizes)                         torch Tensor
squeeze                                                     torch Tensor
stack                                                       torch
swapaxes(axis0=axis0 axis1=axis1)                           torch Tensor
swapdims                                                    torch Tensor
t                                                           torch Tensor
tile(repeats=dims)                                          torch Tensor
trace                                                       torch Tensor
transpose                                                   torch Tensor
tril                                                        torch Tensor Tensor_
tril_indices(rows=row columns=col)
triu                                                        torch Tensor Tensor_
triu_indices(rows=row columns=col)
unbind                                                      torch Tensor
unflatten                                                   torch Tensor
unfold(axis=dimension)                                      Tensor
unsqueeze                                                   torch Tensor
view(shape=size)
view_as                                                     Tensor
view_as_complex(x=input)                                    torch
view_as_real                                                torch
vstack                                                      torch
row_stack=vstack                                            torch
"""
