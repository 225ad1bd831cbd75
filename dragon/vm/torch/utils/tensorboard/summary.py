"""The messages that TensorBoard shows: a value each, encoded."""
import io
import struct
import time
import wave
import zlib

from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.utils.tensorboard.records import FLOAT, field

DT_FLOAT, DT_STRING, DT_DOUBLE = 1, 7, 2
STRING, FLOAT64 = 1, 3


def as_array(values):
    """Return values as a NumPy array, for encoding."""
    import numpy as np
    if isinstance(values, Tensor):
        values = values.detach().cpu()
        return values.numpy(force=True)
    if isinstance(values, np.ndarray) or np.isscalar(values):
        return np.asarray(values)
    raise NotImplementedError(f"torch.utils.tensorboard: Got {type(values)}, but numpy array or torch tensor are "
                              "expected.")


def value(tag, content, metadata=b""):
    """Return a summary with one value."""
    return field(1, field(1, tag) + content + (field(9, metadata) if metadata else b""))


def plugin(name, content=b"", display_name=None):
    """Return the metadata that says which of TensorBoard's tabs shows a value."""
    return field(1, field(1, name) + field(2, content)) + field(2, display_name)


def scalar(tag, number, double_precision=False, new_style=False):
    """Return a number."""
    array = as_array(number)
    if array.size != 1:
        raise AssertionError(f"torch.utils.tensorboard: got {tag} of shape {array.shape}, expected one number: scalar "
                             "should be 0D")
    number = float(array.reshape(()))
    if not new_style:
        return value(tag, field(2, number, FLOAT))
    kind, data = ((DT_DOUBLE, field(6, [number])) if double_precision
                  else (DT_FLOAT, field(5, struct.pack("<f", number))))
    return value(tag, field(8, field(1, kind) + data), plugin("scalars"))


def histogram(tag, values, bins, max_bins=None):
    """Return how often values lie in which bin."""
    import numpy as np
    values = as_array(values).astype(float).reshape(-1)
    if values.size == 0:
        raise ValueError("The input has no element.")
    counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        together = len(counts) // max_bins
        counts = np.pad(counts, (0, -len(counts) % together)).reshape(-1, together).sum(1)
        limits = np.append(limits[:-1:together], limits[-1])
    # Empty bins at both ends are left out, but for one before the first value.
    filled = np.flatnonzero(counts)
    if filled.size == 0:
        raise ValueError("The histogram is empty, please file a bug report.")
    first, last = int(filled[0]), int(filled[-1]) + 1
    kept = counts[first - 1:last] if first > 0 else np.concatenate([[0], counts[:last]])
    return value(tag, field(5, histogram_message(values.min(), values.max(), len(values), values.sum(),
                                                 values.dot(values), limits[first:last + 1], kept)))


def histogram_message(least, most, count, total, squares, limits, counts):
    """Return a histogram whose bins are known."""
    facts = enumerate((least, most, count, total, squares), 1)
    numbers = b"".join(field(place, float(number)) for place, number in facts)
    return numbers + field(6, [float(limit) for limit in limits]) + field(7, [float(part) for part in counts])


def to_pixels(array, dataformats):
    """Return an image, or several side by side, as bytes in the order rows, columns, channels."""
    import numpy as np
    array = as_array(array)
    letters = dataformats.upper()
    if len(set(letters)) != len(letters) or array.ndim != len(letters):
        raise AssertionError(f"The image's shape {array.shape} and dataformats={dataformats!r} do not fit together")
    if "N" in letters:
        order = [letters.index(axis) for axis in "NHWC"]
        images = array.transpose(order)
        count, height, width, channels = images.shape
        columns = min(count, 8)
        rows = -(-count // columns)
        grid = np.zeros((rows * height, columns * width, channels), array.dtype)
        for place, image in enumerate(images):
            top, left = place // columns * height, place % columns * width
            grid[top:top + height, left:left + width] = image
        array = grid
    elif "C" in letters:
        array = array.transpose([letters.index(axis) for axis in "HWC"])
    else:
        array = array.transpose([letters.index(axis) for axis in "HW"])[..., None]
    if array.shape[2] == 1:
        array = array.repeat(3, 2)
    scale = 1 if array.dtype == np.uint8 else 255
    return (array.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)


def encode_png(pixels):
    """Return pixels as a PNG file."""
    height, width, channels = pixels.shape
    color = {3: 2, 4: 6}[channels]
    rows = b"".join(b"\0" + pixels[row].tobytes() for row in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def image(tag, tensor, dataformats="CHW"):
    """Return a picture."""
    pixels = to_pixels(tensor, dataformats)
    height, width, channels = pixels.shape
    return value(tag, field(4, field(1, height) + field(2, width) + field(3, channels)
                            + field(4, encode_png(pixels))))


def audio(tag, tensor, sample_rate=44100):
    """Return a sound."""
    samples = as_array(tensor).squeeze()
    if samples.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setparams((1, 2, sample_rate, 0, "NONE", "NONE"))
        file.writeframes((samples.clip(-1, 1) * (2 ** 15 - 1)).astype("<i2").tobytes())
    return value(tag, field(6, field(1, float(sample_rate), FLOAT) + field(2, 1) + field(3, len(samples))
                            + field(4, content.getvalue()) + field(5, "audio/wav")))


def text(tag, string):
    """Return a text."""
    tensor = field(1, DT_STRING) + field(2, field(2, field(1, 1))) + field(8, string)
    return value(tag + "/text_summary", field(8, tensor), plugin("text"))


def tensor_values(tag, tensor):
    """Return a tensor's numbers."""
    array = as_array(tensor).astype("<f4")
    shape = b"".join(field(2, field(1, size)) for size in array.shape)
    return value(tag, field(8, field(1, DT_FLOAT) + field(2, shape) + field(5, array.tobytes())), plugin("tensor"))


def hparams(hparam_dict, metric_dict, hparam_domain_discrete=None):
    """Return three summaries: which hyperparameters there are, those of this run, and that it went well."""
    domains = hparam_domain_discrete or {}
    infos, chosen = b"", b""
    for name, setting in hparam_dict.items():
        kind, encoded = encode_setting(name, setting)
        allowed = b"".join(field(1, encode_setting(name, item)[1]) for item in domains.get(name, ()))
        infos += field(4, field(1, name) + field(4, kind) + (field(5, allowed) if allowed else b""))
        chosen += field(1, field(1, name) + field(2, encoded))
    metrics = b"".join(field(5, field(1, field(2, name))) for name in metric_dict)
    now = time.time()
    parts = {"experiment": field(2, infos + metrics), "session_start_info": field(3, chosen + field(5, now)),
             "session_end_info": field(4, field(1, 1) + field(2, now))}
    empty = field(8, field(1, DT_FLOAT) + field(2, b""))
    return [value(f"_hparams_/{name}", empty, plugin("hparams", content)) for name, content in parts.items()]


def encode_setting(name, setting):
    """Return (the kind of a hyperparameter, its value as a message)."""
    if isinstance(setting, (int, float)):
        return FLOAT64, field(2, float(setting))
    if isinstance(setting, str):
        return STRING, field(3, setting)
    if isinstance(setting, Tensor) and setting.numel() == 1:
        return encode_setting(name, setting.item())
    raise ValueError(f"value should be one of int, float, str, bool, or torch.Tensor: got {type(setting).__name__} for "
                     f"hyperparameter {name!r}")


def default_bins():
    """Return the limits that TensorBoard uses: tighter around zero."""
    limits, limit = [], 1e-12
    while limit < 1e20:
        limits.append(limit)
        limit *= 1.1
    return [-limit for limit in reversed(limits)] + [0] + limits


def clean_tag(name):
    """Return a name that may be a tag."""
    return "".join(letter if letter.isalnum() or letter in "-/_. " else "_" for letter in name).lstrip("/")
