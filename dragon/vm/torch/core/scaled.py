"""Products of matrices whose numbers were scaled into narrow dtypes: brought back, multiplied, and cast."""
import enum

from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import ops

NARROW = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")


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
        `NO_SWIZZLE`, or nothing.
    bias : Tensor, optional
        Added to each row.
    output_dtype : dtype, optional, default=torch.bfloat16
        That of the result; that of `mat_a` for None.
    contraction_dim : Sequence[int], optional
        Empty: the last of `mat_a` and the first of `mat_b` meet.
    use_fast_accum : bool, optional, default=False
        Allow sums that are less exact, which are not made here.

    Returns
    -------
    Tensor
        The product.

    """
    if contraction_dim:
        raise NotImplementedError(f"scaled_mm: got contraction_dim={contraction_dim}, expected none")
    for what, value in (("swizzle_a", swizzle_a), ("swizzle_b", swizzle_b)):
        if _only(value, what) not in (None, SwizzleType.NO_SWIZZLE):
            raise ValueError(f"scaled_mm: got {what}={value}, expected SwizzleType.NO_SWIZZLE")
    scale_a, scale_b = _only(scale_a, "scale_a"), _only(scale_b, "scale_b")
    recipes = _only(scale_recipe_a, "scale_recipe_a"), _only(scale_recipe_b, "scale_recipe_b")
    shapes = {ScalingType.TensorWise: ((), ()), ScalingType.RowWise: ((mat_a.shape[0], 1), (1, mat_b.shape[1]))}
    fits = (recipes[0] is recipes[1] and recipes[0] in shapes
            and mat_a.dtype.name in NARROW and mat_b.dtype.name in NARROW
            and scale_a.dtype.name == scale_b.dtype.name == "float32"
            and (recipes[0] is ScalingType.TensorWise and scale_a.numel() == scale_b.numel() == 1
                 or tuple(map(tuple, (scale_a.shape, scale_b.shape))) == shapes[recipes[0]]))
    if not fits:
        raise ValueError(f"Invalid scaling configuration: got {mat_a.dtype} and {mat_b.dtype}, scales of "
                         f"{scale_a.dtype} with shapes {tuple(scale_a.shape)} and {tuple(scale_b.shape)}, {recipes[0]} "
                         f"and {recipes[1]}, expected float8, and float32 scales that are one number (TensorWise) or "
                         f"of shapes {shapes[ScalingType.RowWise]} (RowWise)")
    wide = OBJECTS["float32"]
    scales = [ops.reshape(scale, ()) if recipes[0] is ScalingType.TensorWise else scale for scale in (scale_a, scale_b)]
    made = ops.mul(ops.mul(ops.matmul(mat_a.to(wide), mat_b.to(wide)), scales[0]), scales[1])
    made = made if bias is None else ops.add(made, bias.to(wide))
    return made.to(mat_a.dtype if output_dtype is None else output_dtype)


def scaled_grouped_mm(mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b, swizzle_a=None, swizzle_b=None,
                      bias=None, offs=None, output_dtype=OBJECTS["bfloat16"], contraction_dim=(),
                      use_fast_accum=False):
    """Refuse: PyTorch multiplies groups of scaled matrices on CUDA devices alone."""
    raise NotImplementedError(f"scaled_grouped_mm: got matrices on {mat_a.device}, expected a CUDA device of a build "
                              "that multiplies scaled groups: scaled_mm multiplies them one by one")


for _function in (scaled_mm, scaled_grouped_mm):
    _function.__module__ = "torch.nn.functional"
