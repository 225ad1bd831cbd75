"""The tables of augmentation: learned pairs of operations, and how strong each operation may be."""
import functools

from dragon.vm import torch

# Pairs of `operation:probability:magnitude`; the magnitude is a bin from 0 to 9, and some operations have none.
_LEARNED = {
    "imagenet": """
        Posterize:0.4:8 Rotate:0.6:9, Solarize:0.6:5 AutoContrast:0.6, Equalize:0.8 Equalize:0.6,
        Posterize:0.6:7 Posterize:0.6:6, Equalize:0.4 Solarize:0.2:4, Equalize:0.4 Rotate:0.8:8,
        Solarize:0.6:3 Equalize:0.6, Posterize:0.8:5 Equalize:1.0, Rotate:0.2:3 Solarize:0.6:8,
        Equalize:0.6 Posterize:0.4:6, Rotate:0.8:8 Color:0.4:0, Rotate:0.4:9 Equalize:0.6,
        Equalize:0.0 Equalize:0.8, Invert:0.6 Equalize:1.0, Color:0.6:4 Contrast:1.0:8,
        Rotate:0.8:8 Color:1.0:2, Color:0.8:8 Solarize:0.8:7, Sharpness:0.4:7 Invert:0.6,
        ShearX:0.6:5 Equalize:1.0, Color:0.4:0 Equalize:0.6, Equalize:0.4 Solarize:0.2:4,
        Solarize:0.6:5 AutoContrast:0.6, Invert:0.6 Equalize:1.0, Color:0.6:4 Contrast:1.0:8,
        Equalize:0.8 Equalize:0.6
    """,
    "cifar10": """
        Invert:0.1 Contrast:0.2:6, Rotate:0.7:2 TranslateX:0.3:9, Sharpness:0.8:1 Sharpness:0.9:3,
        ShearY:0.5:8 TranslateY:0.7:9, AutoContrast:0.5 Equalize:0.9, ShearY:0.2:7 Posterize:0.3:7,
        Color:0.4:3 Brightness:0.6:7, Sharpness:0.3:9 Brightness:0.7:9, Equalize:0.6 Equalize:0.5,
        Contrast:0.6:7 Sharpness:0.6:5, Color:0.7:7 TranslateX:0.5:8, Equalize:0.3 AutoContrast:0.4,
        TranslateY:0.4:3 Sharpness:0.2:6, Brightness:0.9:6 Color:0.2:8, Solarize:0.5:2 Invert:0.0,
        Equalize:0.2 AutoContrast:0.6, Equalize:0.2 Equalize:0.6, Color:0.9:9 Equalize:0.6,
        AutoContrast:0.8 Solarize:0.2:8, Brightness:0.1:3 Color:0.7:0, Solarize:0.4:5 AutoContrast:0.9,
        TranslateY:0.9:9 TranslateY:0.7:9, AutoContrast:0.9 Solarize:0.8:3, Equalize:0.8 Invert:0.1,
        TranslateY:0.7:9 AutoContrast:0.9
    """,
    "svhn": """
        ShearX:0.9:4 Invert:0.2, ShearY:0.9:8 Invert:0.7, Equalize:0.6 Solarize:0.6:6,
        Invert:0.9 Equalize:0.6, Equalize:0.6 Rotate:0.9:3, ShearX:0.9:4 AutoContrast:0.8,
        ShearY:0.9:8 Invert:0.4, ShearY:0.9:5 Solarize:0.2:6, Invert:0.9 AutoContrast:0.8,
        Equalize:0.6 Rotate:0.9:3, ShearX:0.9:4 Solarize:0.3:3, ShearY:0.8:8 Invert:0.7,
        Equalize:0.9 TranslateY:0.6:6, Invert:0.9 Equalize:0.6, Contrast:0.3:3 Rotate:0.8:4,
        Invert:0.8 TranslateY:0.0:2, ShearY:0.7:6 Solarize:0.4:8, Invert:0.6 Rotate:0.8:4,
        ShearY:0.3:7 TranslateX:0.9:3, ShearX:0.1:6 Invert:0.6, Solarize:0.7:2 TranslateY:0.6:7,
        ShearY:0.8:4 Invert:0.8, ShearX:0.7:9 TranslateY:0.8:3, ShearY:0.8:5 AutoContrast:0.7,
        ShearX:0.7:2 Invert:0.1
    """,
}


def _operation(word):
    name, p, *step = word.split(":")
    return name, float(p), int(step[0]) if step else None


POLICIES = {name: [tuple(_operation(word) for word in pair.split()) for pair in table.split(",")]
            for name, table in _LEARNED.items()}

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
