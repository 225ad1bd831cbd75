"""Pictures that the engine works on: bytes in one pass over their rows, other numbers by its operators."""
import numpy as np

from dragon import _C
from dragon.core import config
from dragon.core.operators import operators
from dragon.io.pictures.batch import kept_recipe


def write(pictures, size, region=None, box=None, mirror=False, matrix=None, **settings):
    """Return pictures of bytes in another size or in other colours, as numbers of any type; Python goes on meanwhile.

    Parameters
    ----------
    pictures : numpy.ndarray
        Bytes: pictures, height, width, and 1, 3 or 4 channels; none of these is 0.
    size : Tuple[int, int]
        Height and width of the results.
    region, box : tuple, optional
        Which pixels are seen, and what of them is spread over the result: top, left, height, width.
    mirror : bool, optional, default=False
        Whether left and right are exchanged.
    matrix : Sequence[float], optional
        Twelve numbers that mix colours.
    settings : Any
        Further ones of `Recipe`.

    """
    recipe = kept_recipe((int(size[0]), int(size[1])), channels=pictures.shape[-1], **settings)
    made = np.empty(recipe.shape(len(pictures)), recipe.dtype)
    troubles = recipe.write([(picture, region, mirror, matrix, box, None) for picture in pictures], made)
    if troubles:
        raise RuntimeError(next(iter(troubles.values())))
    return made


def call(name, pictures, *inputs, **attributes):
    """Return what an operator of the engine makes of pictures, which have channels last as their results have.

    What stands behind the pictures may be arrays too. Samples share out the cores, so that each keeps to one.
    """
    def given(value):
        return _C.from_buffer(np.ascontiguousarray(value), _C.Tensor) if isinstance(value, np.ndarray) else value
    ops, last = operators(), pictures.ndim - 1
    turned = ops.permuted(given(pictures), [0, last, *range(1, last)])
    before = config.work_alone(True)
    try:
        made = getattr(ops, name)(turned, *map(given, inputs), **attributes)
        return np.asarray(memoryview(ops.permuted(made, [0, *range(2, last + 1), 1])))
    finally:
        config.work_alone(before)
