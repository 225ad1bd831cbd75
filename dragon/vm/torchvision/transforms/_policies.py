"""The tables of augmentation: how strong each operation may be."""
import functools

from dragon.vm import torch

# For each operation the greatest magnitude; a `-` marks those that have a sign, `w` and `h` are the image's sides,
# `posterize:from:by` counts bits, `solarize` falls from white to black.
_COLOURS = "Brightness:-0.9 Color:-0.9 Contrast:-0.9 Sharpness:-0.9"
_SHEARS = "ShearX:-0.3 ShearY:-0.3"
_FAR = "TranslateX:-w150/331 TranslateY:-h150/331 Rotate:-30.0"
SPACES = {
    "auto": f"{_SHEARS} {_FAR} {_COLOURS} Posterize:posterize:8:4 Solarize:solarize AutoContrast Equalize Invert",
    "rand": f"Identity {_SHEARS} {_FAR} {_COLOURS} Posterize:posterize:8:4 Solarize:solarize AutoContrast Equalize",
    "trivial": "Identity ShearX:-0.99 ShearY:-0.99 TranslateX:-32.0 TranslateY:-32.0 Rotate:-135.0 Brightness:-0.99 "
               "Color:-0.99 Contrast:-0.99 Sharpness:-0.99 Posterize:posterize:8:6 Solarize:solarize AutoContrast "
               "Equalize",
    "mix part": f"{_SHEARS} TranslateX:-w1/3 TranslateY:-h1/3 Rotate:-30.0 Posterize:posterize:4:4 Solarize:solarize "
                "AutoContrast Equalize",
}
SPACES["mix"] = f"{SPACES['mix part']} {_COLOURS}"


def policy_of(name):
    """Return the chains of a learned policy."""
    from dragon.io.pictures.policies import POLICIES
    return POLICIES[name]


def space_of(table, bins, image_size, white=255.0):
    """Return for each operation of a table its magnitudes, None if it has none, and whether they have a sign.

    Parameters
    ----------
    table : str
        One of `SPACES`.
    bins : int
        How many magnitudes.
    image_size : Tuple[int, int]
        Height and width.
    white : float, optional, default=255.0
        The greatest value of a pixel.

    Returns
    -------
    Dict[str, Tuple[List[float], bool]]
        The space.

    """
    return dict(_spread(table, bins, tuple(image_size), white, torch.get_default_dtype()))


@functools.lru_cache(maxsize=64)  # a transform asks for each picture
def _spread(table, bins, image_size, white, dtype):
    found = {}
    for word in table.split():
        name, _, rule = word.partition(":")
        signed, rule = rule.startswith("-"), rule.removeprefix("-")
        if not rule:
            magnitudes = None
        elif rule.startswith("posterize"):
            _, start, by = rule.split(":")
            magnitudes = (int(start) - (torch.arange(bins) / ((bins - 1) / int(by))).round().int()).tolist()
        elif rule == "solarize":
            magnitudes = torch.linspace(white, 0.0, bins, dtype=dtype).tolist()
        else:
            if rule[0] in "wh":
                above, below = rule[1:].split("/")
                side = image_size[rule[0] == "w"]
                end = side / float(below) if above == "1" else float(above) / float(below) * side
            else:
                end = float(rule)
            magnitudes = torch.linspace(0.0, end, bins, dtype=dtype).tolist()
        found[name] = (magnitudes, signed)
    return found
