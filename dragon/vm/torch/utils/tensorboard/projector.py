"""The files of TensorBoard's projector: points in many dimensions, their labels and pictures."""
import json
import math
import os

from dragon.core import files
from dragon.vm.torch.utils.tensorboard.summary import as_array, encode_png

CONFIG = "projector_config.pbtxt"


def encode_tag(tag):
    """Return a tag as the name of a folder."""
    for letter in "%/\\":
        tag = tag.replace(letter, f"%{ord(letter):02x}")
    return tag


def write_lines(path, lines):
    """Write lines into a file."""
    with files.rewriting(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def write_points(folder, points):
    """Write a row for each point."""
    write_lines(os.path.join(folder, "tensors.tsv"),
                ("\t".join(str(number.item()) for number in row) for row in points))


def write_labels(folder, labels, header):
    """Write a row for each point's label, or labels under a header."""
    if not header:
        rows = [str(label) for label in labels]
    else:
        if len(header) != len(labels[0]):
            raise AssertionError("len of header must be equal to the number of columns in metadata")
        rows = ["\t".join(str(item) for item in row) for row in (header, *labels)]
    write_lines(os.path.join(folder, "metadata.tsv"), rows)


def write_pictures(folder, pictures):
    """Write the points' pictures, of numbers from 0 to 1, as one square of them."""
    import numpy as np
    pictures = as_array(pictures)
    side = math.ceil(math.sqrt(len(pictures)))
    count, channels, height, width = pictures.shape
    square = np.zeros((side * width, side * width, 3))
    for place, picture in enumerate(pictures):
        top, left = place // side * height, place % side * width
        square[top:top + height, left:left + width] = picture.transpose(1, 2, 0)
    files.write(os.path.join(folder, "sprite.png"), encode_png((square * 255).clip(0, 255).astype(np.uint8)))


def describe(tag, step, below, has_labels, pictures):
    """Return what the projector's configuration says of one set of points."""
    lines = [f"tensor_name: {json.dumps(f'{tag}:{step}')}"]
    lines += [f'metadata_path: "{below}/metadata.tsv"'] if has_labels else []
    if pictures is not None:
        sizes = [f"  single_image_dim: {size}" for size in (pictures.shape[3], pictures.shape[2])]
        lines += ["sprite {", f'  image_path: "{below}/sprite.png"', *sizes, "}"]
    lines.append(f'tensor_path: "{below}/tensors.tsv"')
    return ["embeddings {", *("  " + line for line in lines), "}"]


def add(folder, tag, points, labels, pictures, step, header):
    """Write one set of points below a folder.

    Parameters
    ----------
    folder : str
        The run's folder.
    tag : str
        What the points are called.
    points : Union[Tensor, numpy.ndarray]
        A row each.
    labels : Sequence, optional
        A label each, or a sequence of as many as `header` names.
    pictures : Tensor, optional
        (points, channels, height, width), of numbers from 0 to 1.
    step : int, optional
        When.
    header : Sequence[str], optional
        What the labels are.

    Returns
    -------
    List[str]
        The lines of the configuration that tell of it.

    """
    points, step = as_array(points), str(0 if step is None else step).zfill(5)
    below = f"{step}/{encode_tag(tag)}"
    place = os.path.join(folder, below)
    if os.path.isdir(place):
        print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
    elif os.path.exists(place):
        raise NotADirectoryError(f"Path: `{place}` exists, but is a file. Cannot proceed.")
    os.makedirs(place, exist_ok=True)
    for items, what in ((labels, "labels"), (pictures, "images")):
        if items is not None and len(points) != len(items):
            raise AssertionError(f"#{what} should equal with #data points")
    if points.ndim != 2:
        raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
    if labels is not None:
        write_labels(place, labels, header)
    if pictures is not None:
        write_pictures(place, pictures)
    write_points(place, points)
    return describe(tag, step, below, labels is not None, pictures)
