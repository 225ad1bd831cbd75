"""Products of matrices whose numbers were scaled into narrow dtypes, under PyTorch's two names."""
import enum

from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.register import FUNCTIONS


class ScalingType(enum.Enum):
    """How many numbers share a scale."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(enum.Enum):
    """In what order scales lie in memory."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


for _kind in (ScalingType, SwizzleType):
    _kind.__module__ = "torch.nn.functional"


def _only(value, what):
    """Return the one thing of a list, or the thing itself; None for an empty list."""
    if isinstance(value, (list, tuple)):
        if len(value) > 1:
            raise NotImplementedError(f"scaled_mm: got {len(value)} values for {what}, expected one: scales of scales "
                                      "are for CUDA devices")
        return value[0] if value else None
    return value


def scaled_mm(mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b, swizzle_a=None, swizzle_b=None, bias=None,
              output_dtype=OBJECTS["bfloat16"], contraction_dim=(), use_fast_accum=False):
    """Return the product of two matrices of 8-bit floats, each times its scale.

    Parameters
    ----------
    mat_a, mat_b : Tensor
        Matrices of float8.
    scale_a, scale_b : Union[Tensor, Sequence[Tensor]]
        What brings their numbers back: one number, or one for each row of `mat_a` and each column of `mat_b`.
    scale_recipe_a, scale_recipe_b : Union[ScalingType, Sequence[ScalingType]]
        Which of both: `TensorWise` or `RowWise`.
    swizzle_a, swizzle_b : SwizzleType, optional
        The order of blocks' scales: neither recipe has any.
    bias : Tensor, optional
        Added to each row.
    output_dtype : dtype, optional, default=torch.bfloat16
        That of the result; that of `mat_a` for None.
    contraction_dim : Sequence[int], optional
        `(1, 0)`, or empty: the last of `mat_a` and the first of `mat_b` meet.
    use_fast_accum : bool, optional, default=False
        Allow sums that are less exact: tensor cores of a GPU then keep them in fewer bits.

    Returns
    -------
    Tensor
        The product.

    """
    for name, x in (("mat_a", mat_a), ("mat_b", mat_b)):
        if x.ndim != 2:
            raise ValueError(f"scaled_mm: got {name} of shape {tuple(x.shape)}, expected 2 dims. {name} must be a "
                             "matrix")
    _check_contraction(mat_a, mat_b, contraction_dim)
    for what, value in (("swizzle_a", swizzle_a), ("swizzle_b", swizzle_b)):
        if _only(value, what) not in (None, *SwizzleType):
            raise ValueError(f"scaled_mm: got {what}={value}, expected a SwizzleType")
    scale_a, scale_b = _only(scale_a, "scale_a"), _only(scale_b, "scale_b")
    recipes = _only(scale_recipe_a, "scale_recipe_a"), _only(scale_recipe_b, "scale_recipe_b")
    shapes = {ScalingType.TensorWise: ((), ()), ScalingType.RowWise: ((mat_a.shape[0], 1), (1, mat_b.shape[1]))}
    fits = (recipes[0] is recipes[1] and recipes[0] in shapes
            and (scale_a.numel() == scale_b.numel() == 1 if recipes[0] is ScalingType.TensorWise else
                 tuple(map(tuple, (scale_a.shape, scale_b.shape))) == shapes[recipes[0]]))
    if not fits:
        raise ValueError(f"Invalid scaling configuration: got scales of shapes {tuple(scale_a.shape)} and "
                         f"{tuple(scale_b.shape)}, {recipes[0]} and {recipes[1]}, expected one number for each "
                         f"(TensorWise) or {shapes[ScalingType.RowWise]} (RowWise)")
    return FUNCTIONS["_scaled_mm"](mat_a, mat_b, scale_a, scale_b, bias, None, output_dtype, use_fast_accum)


def _check_contraction(mat_a, mat_b, contraction_dim):
    """Refuse axes to sum over other than the last of the one matrix and the first of the other."""
    if not contraction_dim:
        contraction_dim = (1, 0)
    if len(contraction_dim) != 2:
        raise ValueError(f"scaled_mm: got contraction_dim={contraction_dim}. contraction_dim must have exactly 2 "
                         "elements")
    if mat_a.shape[contraction_dim[0]] != mat_b.shape[contraction_dim[1]]:
        raise ValueError(f"scaled_mm: got shapes {tuple(mat_a.shape)} and {tuple(mat_b.shape)}, "
                         f"contraction_dim={tuple(contraction_dim)}, expected equal sizes along it. "
                         "mat_a and mat_b shapes cannot be multiplied")
    if (contraction_dim[0] % 2, contraction_dim[1] % 2) != (1, 0):
        raise NotImplementedError(f"scaled_mm: got contraction_dim={tuple(contraction_dim)}, expected (1, 0): "
                                  "transpose the matrices")


def scaled_grouped_mm(mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b, swizzle_a=None, swizzle_b=None,
                      bias=None, offs=None, output_dtype=OBJECTS["bfloat16"], contraction_dim=(),
                      use_fast_accum=False):
    """Refuse: PyTorch multiplies groups of scaled matrices on CUDA devices alone."""
    raise NotImplementedError(f"scaled_grouped_mm: got matrices on {mat_a.device}, expected a CUDA device of a build "
                              "that multiplies scaled groups: scaled_mm multiplies them one by one")


for _function in (scaled_mm, scaled_grouped_mm):
    _function.__module__ = "torch.nn.functional"
