"""Pictures of bytes that the engine works on in one pass over their rows."""
import numpy as np

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
