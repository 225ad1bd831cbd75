"""The messages of TensorBoard's tabs for precision and recall, meshes, layouts of curves, and films."""
import io
import json

from dragon.core.wire import write_varint
from dragon.vm.torch.utils.tensorboard.records import field
from dragon.vm.torch.utils.tensorboard.summary import (DT_FLOAT, DT_STRING, as_array, plugin, to_pixels, value)

LEAST_COUNT = 1e-7  # so that nothing is divided by zero
MOST_THRESHOLDS = 127
VERTEX, FACE, COLOR = 1, 2, 3
PARTS = {VERTEX: "VERTEX", FACE: "FACE", COLOR: "COLOR"}


def shape_of(sizes):
    """Return a shape as a message."""
    return b"".join(field(2, field(1, int(size))) for size in sizes)


def numbers(array):
    """Return an array as a tensor of single precision, its numbers listed."""
    listed = array.astype("<f4").tobytes()
    return field(1, DT_FLOAT) + field(2, shape_of(array.shape)) + (field(5, listed) if listed else b"")


def described(name, content, display_name, description):
    """Return the metadata of a tab with a heading and a text."""
    return plugin(name, content, display_name) + (field(3, description) if description else b"")


def curve(labels, predictions, num_thresholds, weights=None):
    """Return true and false positives, true and false negatives, precision and recall at each threshold.

    Parameters
    ----------
    labels : numpy.ndarray
        Whether each item is of the class, as 0 and 1.
    predictions : numpy.ndarray
        How likely that was thought, from 0 to 1.
    num_thresholds : int
        How many thresholds, evenly from 0 to 1.
    weights : Union[numpy.ndarray, float], optional
        How much each item counts.

    Returns
    -------
    numpy.ndarray
        Six rows.

    """
    import numpy as np
    weights = 1.0 if weights is None else weights
    buckets = np.int32(np.floor(predictions * (num_thresholds - 1)))
    labels = labels.astype(np.float64)

    def reached(counted):
        found, _ = np.histogram(buckets, num_thresholds, (0, num_thresholds - 1), weights=counted * weights)
        return np.cumsum(found[::-1])[::-1]
    true, false = reached(labels), reached(1.0 - labels)
    missed, refused = true[0] - true, false[0] - false
    return np.stack((true, false, refused, missed, true / np.maximum(LEAST_COUNT, true + false),
                     true / np.maximum(LEAST_COUNT, true + missed)))


def pr_curve(tag, labels, predictions, num_thresholds=127, weights=None):
    """Return the curve of precision and recall of predictions."""
    num_thresholds = min(num_thresholds, MOST_THRESHOLDS)
    weights = None if weights is None else as_array(weights)
    return _curve(tag, curve(as_array(labels), as_array(predictions), num_thresholds, weights), num_thresholds)


def pr_curve_raw(tag, rows, num_thresholds=127):
    """Return a curve whose six rows are known."""
    import numpy as np
    return _curve(tag, np.stack([as_array(row) for row in rows]), min(num_thresholds, MOST_THRESHOLDS))


def _curve(tag, rows, num_thresholds):
    return value(tag, field(8, numbers(rows)), plugin("pr_curves", field(2, num_thresholds)))


def mesh(tag, vertices, colors=None, faces=None, config_dict=None, display_name=None, description=None):
    """Return the points of a shape, and their colours and triangles where they are given: a value each."""
    parts = [(kind, as_array(part)) for kind, part in ((VERTEX, vertices), (FACE, faces), (COLOR, colors))
             if part is not None]
    mask = 0
    for kind, _ in parts:
        mask |= 1 << kind
    made = b""
    for kind, part in parts:
        sizes = field(6, b"".join(write_varint(size) for size in part.shape))
        content = (field(2, tag) + field(3, kind) + field(5, json.dumps(config_dict or {}, sort_keys=True)) + sizes
                   + field(7, mask))
        made += value(f"{tag}_{PARTS[kind]}", field(8, numbers(part)),
                      described("mesh", content, display_name, description))
    return made


def custom_scalars(layout):
    """Return which curves are shown together: {category: {chart: ["Multiline" or "Margin", tags]}}."""
    categories = b""
    for title, charts in layout.items():
        drawn = b""
        for name, (kind, tags) in ((name, chart[:2]) for name, chart in charts.items()):
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError(f"add_custom_scalars: got {len(tags)} tags for the margin chart {name!r}, "
                                         "expected 3: value, lower, upper")
                series = b"".join(field(place, text) for place, text in enumerate(tags, 1))
                content = field(3, field(1, series))
            else:
                content = field(2, b"".join(field(1, text) for text in tags))
            drawn += field(2, field(1, name) + content)
        categories += field(2, field(1, title) + drawn)
    tensor = field(1, DT_STRING) + field(2, b"") + field(8, categories)
    return value("custom_scalars__config__", field(8, tensor), plugin("custom_scalars"))


def video(tag, tensor, fps=4):
    """Return films side by side as one animated picture."""
    image = pillow("add_video")
    films = as_array(tensor)
    if films.ndim != 5:
        raise AssertionError(f"add_video: got a tensor of shape {films.shape}, expected (films, frames, channels, "
                             "height, width)")
    frames = [to_pixels(films[:, place], "NCHW") for place in range(films.shape[1])]
    drawn = [image.fromarray(frame) for frame in frames]
    file = io.BytesIO()
    drawn[0].save(file, "GIF", save_all=True, append_images=drawn[1:], duration=round(1000 / fps), loop=0)
    height, width, channels = frames[0].shape
    return picture(tag, height, width, channels, file.getvalue())


def picture(tag, height, width, channels, encoded):
    """Return an encoded picture."""
    return value(tag, field(4, field(1, height) + field(2, width) + field(3, channels) + field(4, encoded)))


def pillow(who):
    """Return Pillow's `Image`, or raise with the name of who needs it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(f"SummaryWriter.{who} needs Pillow: `pip install pillow`", name="PIL") from error
    return Image
