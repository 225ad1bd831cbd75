"""How PyTorch calls what the engine has: argument names, and which operators are functions and methods of the guest."""

# The engine's argument names in PyTorch's words, for every operator ...
GENERAL = {"x": "input", "y": "other", "axis": "dim", "keepdims": "keepdim", "axis0": "dim0", "axis1": "dim1",
           "axis2": "dim2", "axes": "dims", "xs": "tensors", "shape": "size", "stop": "end"}

# ... and where an operator has its own: the operator, then `engine's=PyTorch's`.
PARTICULAR = """
addbmm a=batch1 b=batch2
baddbmm a=batch1 b=batch2
addmm a=mat1 b=mat2
addmv a=mat b=vec
addr a=vec1 b=vec2
as_strided strides=stride offset=storage_offset
bilinear x=input1 y=input2
binary_cross_entropy y=target
binary_cross_entropy_with_logits y=target
binomial p=prob
bmm y=mat2
mm y=mat2
mv y=vec
dot y=tensor
ger y=vec2
outer y=vec2
inner y=other
chain_matmul xs=matrices
cholesky_inverse L=input
cholesky_solve L=input2
cosine_embedding_loss x1=input1 x2=input2 y=target
margin_ranking_loss x1=input1 x2=input2 y=target
diag_embed axis1=dim1 axis2=dim2
diagonal axis1=dim1 axis2=dim2
linalg_diagonal x=A axis1=dim1 axis2=dim2
embedding index=indices
embedding_bag index=indices
empty_strided strides=stride
exponential rate=lambd
cauchy median=median
flatten start_axis=start_dim stop_axis=end_dim
flip axis=dims
float_power y=exponent
pow y=exponent
full value=fill_value
full_like value=fill_value
gaussian_nll_loss y=target
heaviside y=values
hinge_embedding_loss y=target
huber_loss y=target
kl_div y=target
l1_loss y=target
mse_loss y=target
smooth_l1_loss y=target
soft_margin_loss y=target
poisson_nll_loss y=target
multi_margin_loss y=target
multilabel_margin_loss y=target
multilabel_soft_margin_loss y=target
index_add src=source
index_copy src=source
index_reduce src=source
masked_scatter src=source
isin x=elements tests=test_elements
linalg_inv x=A
linalg_inv_ex x=A
linalg_ldl_solve y=B
linalg_lstsq y=b
linalg_lu x=A
linalg_lu_factor x=A
linalg_lu_factor_ex x=A
linalg_lu_solve y=B
linalg_qr x=A
linalg_det x=A
linalg_slogdet x=A
linalg_solve x=A y=B
linalg_solve_ex x=A y=B
linalg_solve_triangular y=B
linalg_svd x=A
linalg_svdvals x=A
linalg_tensorsolve axis=dims
linalg_vander x=x
linalg_vecdot x=x y=y
lu_solve y=b LU=LU_data pivots=LU_pivots
lu_unpack LU=LU_data pivots=LU_pivots
multinomial p=input
bernoulli p=input
native_dropout training=train
alpha_dropout training=training
one_hot x=tensor
orgqr tau=input2
ormqr tau=input2 y=input3
rms_norm shape=normalized_shape
random low=from high=to
reshape shape=shape
expand shape=size
view shape=size
roll axis=dims
rot90 axis=dims
scaled_dot_product_attention q=query k=key v=value
split size=split_size
split_with_sizes sizes=split_sizes
searchsorted x=input
swapaxes axis0=axis0 axis1=axis1
take_along_axis index=indices
tile repeats=dims
triangular_solve y=b x=A
tril_indices rows=row columns=col
triu_indices rows=row columns=col
unfold axis=dimension
uniform low=from high=to
vander x=x
vdot y=other
view_as_complex x=input
"""
NAMES = dict(GENERAL)
for _line in PARTICULAR.split("\n"):
    for _pair in _line.split()[1:]:
        _mine, _theirs = _pair.split("=")
        NAMES[f"{_line.split()[0]}.{_mine}"] = _theirs

# Operators that are functions of `torch` as they are, with the methods of the same names. `function=operator` where
# the names differ; a trailing `*` marks those that are no methods.
FUNCTIONS = """
abs absolute=abs acos acosh adaptive_avg_pool1d* add addbmm addcdiv addcmul addmm addmv addr adjoint all
alpha_dropout* amax amin aminmax angle any arccos=acos arccosh=acosh arcsin=asin arcsinh=asinh arctan=atan
arctan2=atan2 arctanh=atanh argmax argmin argsort argwhere as_strided asin asinh atan atan2 atanh avg_pool1d* baddbmm
bilinear* bincount binomial* bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm
broadcast_to bucketize* cat* cdist* ceil celu* channel_shuffle* cholesky cholesky_inverse cholesky_solve chunk clamp
clip=clamp clone column_stack* complex* concat=cat* concatenate=cat* conj conj_physical conv_transpose1d*
conv_transpose2d* conv_transpose3d* copysign cos cosh cosine_embedding_loss* cosine_similarity* count_nonzero cross
cummax cummin cumprod cumsum deg2rad det diag diag_embed diagflat diagonal digamma div=divide divide dot dropout*
dstack* eq erf erfc erfinv exp exp2 expm1 fix=trunc flatten flip fliplr flipud floor floor_divide fmax
fmin fmod frac frexp gather gcd ge geqrf ger greater=gt greater_equal=ge group_norm* gt hardshrink heaviside
hinge_embedding_loss* histc hstack* hypot i0 igamma igammac index_add index_copy index_fill index_put index_reduce
index_select inner instance_norm* inverse isclose isfinite isin* isinf isnan isneginf isposinf isreal kl_div* kron
kthvalue layer_norm* lcm ldexp le lerp less=lt less_equal=le lgamma log log10 log1p log2 log_softmax logaddexp
logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logsumexp lt lu_solve lu_unpack*
margin_ranking_loss* masked_fill masked_scatter masked_select matmul matrix_exp matrix_power maximum mean minimum mm
mode moveaxis movedim msort mul multinomial multiply=mul mv nan_to_num nanmean nanquantile nansum narrow
native_dropout* native_layer_norm* ne neg negative=neg nextafter not_equal=ne orgqr ormqr outer pairwise_distance*
pdist* permute pinverse pixel_shuffle* pixel_unshuffle* poisson_nll_loss* polar* polygamma* positive pow prelu prod
put qr quantile rad2deg ravel reciprocal relu remainder renorm repeat_interleave reshape rms_norm* roll rot90 round
row_stack=vstack* rsqrt rsub* scatter_add scatter_reduce searchsorted* select selu* sgn sigmoid sign signbit sin sinc
sinh slogdet softmax sort split_with_sizes sqrt square squeeze stack* sub subtract=sub sum svd swapaxes swapdims t
take take_along_dim=take_along_axis tan tanh threshold* tile topk trace transpose triangular_solve tril
triplet_margin_loss* triu true_divide=divide trunc unbind unflatten unsqueeze vander* vdot view_as_complex*
view_as_real* vstack* xlogy
"""

# Those of them that write into their first argument as `Tensor.<name>_`, and as `torch.<name>_`.
IN_PLACE_METHODS = """
abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr arccos arccosh arcsin arcsinh arctan arctan2
arctanh asin asinh atan atan2 atanh baddbmm bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
bitwise_xor ceil clamp clip conj_physical copysign cos cosh cumprod cumsum deg2rad digamma div divide eq erf erfc
erfinv exp exp2 expm1 fix floor floor_divide fmod frac gcd ge greater greater_equal gt heaviside hypot i0
igamma igammac index_add index_copy index_fill index_put index_reduce lcm ldexp le lerp less less_equal lgamma log
log10 log1p log2 logical_and logical_not logical_or logical_xor logit lt masked_fill masked_scatter mul multiply
nan_to_num ne neg negative nextafter not_equal pow put rad2deg reciprocal relu remainder renorm round rsqrt
scatter_add scatter_reduce sgn sigmoid sign sin sinc sinh sqrt square sub subtract tan tanh tril triu true_divide
trunc xlogy
"""
IN_PLACE_FUNCTIONS = """
abs acos acosh addmv alpha_dropout arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil celu clamp
clip conj_physical cos cosh deg2rad dropout erf erfc exp exp2 expm1 fix floor frac gcd i0 index_put lcm ldexp log
log10 log1p log2 logit nan_to_num neg negative rad2deg reciprocal relu round rsqrt selu sigmoid sin sinc sinh sqrt
square tan tanh threshold trunc xlogy
"""

# Operators that are methods alone.
METHODS = """
cauchy_ contiguous expand expand_as exponential_ geometric_ log_normal_ normal_ random_ repeat reshape_as
unfold uniform_ view_as
"""


def pairs(table):
    """Yield (the guest's name, the engine's name, whether it is a method too) for every word of a table."""
    for word in table.split():
        name, _, operator = word.rstrip("*").partition("=")
        yield name, operator or name, not word.endswith("*")
