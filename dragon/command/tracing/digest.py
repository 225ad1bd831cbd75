"""Digests of values: enough of a tensor to tell whether another framework made the same, in a few hundred bytes."""
import sys
import zlib

KEPT = 256  # elements of a tensor that are kept; all, if it has no more
PROBED = 48  # elements that are looked at to see whether a tensor changed
WHOLE = 1 << 22  # elements up to which all are read for checksum and moments; beyond, some of them
DEEP, WIDE = 3, 64  # how far containers are followed, and how many of their entries
MODULE_WIDE = 4096  # parameters of a module


class Places:
    """Evenly spread positions, the same in both processes."""

    def __init__(self):
        self.known = {}

    def __call__(self, size, count):
        import numpy
        key = size, count
        if key not in self.known:
            if len(self.known) > 1000:
                self.known.clear()
            self.known[key] = numpy.arange(count) * (size - 1) // max(count - 1, 1)
        return self.known[key]


PLACES = Places()


def framework_tensor(value):
    """Return "torch", "other" or None: whether a value is a tensor of PyTorch, one of TensorFlow or Keras, or none."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, getattr(torch, "Tensor", ())):
        return "torch"
    root = type(value).__module__.partition(".")[0]
    if root in ("tensorflow", "keras", "dragon") and hasattr(value, "shape") and hasattr(value, "dtype"):
        return "other"
    return None


def to_array(value):
    """Return (array, name of the dtype) of a tensor, without a trace in it; None for one without values."""
    import numpy
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return numpy.asarray(value), str(value.dtype)
    kind = framework_tensor(value)
    name = dtype_name(value)
    if kind == "torch":
        if value.device.type == "meta" or value.is_sparse:
            return None
        value = value.detach().cpu()
        value = value.resolve_conj().resolve_neg() if value.is_complex() else value
        return (value.float() if name in ("bfloat16", "float16") or name.startswith("float8") else value).numpy(), name
    numbers = value.numpy() if hasattr(value, "numpy") else numpy.asarray(value)
    numbers = numpy.asarray(numbers)
    return (numbers.astype("float32") if name in ("bfloat16", "float16") else numbers), name


def dtype_name(value):
    """Return the plain name of a tensor's dtype, such as "float32"."""
    kind = value.dtype
    name = getattr(kind, "name", None)
    return (name if isinstance(name, str) else str(kind)).rpartition(".")[2]


def is_capturing():
    """Return whether Dragon is writing calls down, so that values must not be asked for."""
    settings = sys.modules.get("dragon.core.capture.settings")
    return settings is not None and settings.is_capturing()


def tensor_mark(value):
    """Return what changes when a tensor does: cheap, and not quite sure for what is large."""
    try:
        array, name = to_array(value)
    except Exception:  # without values: symbolic, of a batch, in another device's hands
        return "unknown"
    sample = array.reshape(-1)[PLACES(array.size, PROBED)] if array.size > PROBED else array
    return name, array.shape, getattr(value, "_version", 0), crc(sample)


def crc(array):
    """Return a checksum of an array's bytes."""
    import numpy
    if array.dtype.kind not in "fiubc":
        return zlib.crc32(repr(array.tolist()).encode())
    return zlib.crc32(numpy.ascontiguousarray(array).tobytes())


def tensor_digest(value):
    """Return the digest of a tensor: ("tensor", dtype, shape, checksum, moments, dtype of the sample, sample)."""
    import numpy
    try:
        array, name = to_array(value)
    except Exception:  # see tensor_mark
        return ("unknown",)
    if array.dtype.kind not in "fiubc":
        return ("tensor", name, array.shape, crc(array), None, "", b"")
    flat = array.reshape(-1)
    flat = flat if flat.size <= WHOLE else flat[::-(-flat.size // WHOLE)]
    sample = array.reshape(-1)[PLACES(array.size, KEPT)] if array.size > KEPT else array
    return ("tensor", name, array.shape, crc(flat), moments(flat), str(array.dtype),
            numpy.ascontiguousarray(sample).tobytes())


def moments(flat):
    """Return (how many are not finite, least, greatest, mean, root of the mean square) of the numbers in an array."""
    import numpy
    if flat.dtype.kind == "c":
        flat = numpy.ascontiguousarray(flat).view(flat.real.dtype)
    finite = flat
    if flat.dtype.kind == "f":
        good = numpy.isfinite(flat)
        finite = flat if good.all() else flat[good]
    if finite.size == 0:
        return (flat.size, 0.0, 0.0, 0.0, 0.0)
    wide = finite.astype(numpy.float64)
    return (int(flat.size - finite.size), float(finite.min()), float(finite.max()), float(wide.mean()),
            float(numpy.sqrt((wide * wide).mean())))


def leaves(value, path, own, state=True, depth=0):
    """Yield (path, leaf) of what a value holds that can be compared: numbers, arrays, tensors.

    Parameters
    ----------
    value : object
        What is bound to a name.
    path : str
        The name.
    own : Callable[[type], bool]
        Whether a class is the program's own, so that its attributes are looked at.
    state : bool, optional, default=True
        Whether parameters are looked at, if it is a module.
    depth : int, optional, default=0
        How far inside we are.

    """
    kind = type(value)
    if kind in (int, float, bool, complex) or value is None:
        yield path, value
    elif kind in (str, bytes) or depth > DEEP:
        return
    elif kind.__module__ == "numpy" and hasattr(value, "dtype") or framework_tensor(value):
        yield path, value
    elif isinstance(value, dict):
        for key, entry in list(value.items())[:WIDE]:
            yield from leaves(entry, f"{path}[{key!r}]", own, state, depth + 1)
    elif isinstance(value, (list, tuple)):
        for place, entry in enumerate(value[:WIDE]):
            yield from leaves(entry, f"{path}[{place}]", own, state, depth + 1)
    else:
        yield from members(value, path, own, state, depth)


def members(value, path, own, state, depth):
    """Yield the leaves of a module's state, and of the attributes of an object of the program's own classes."""
    named = state_of(value) if state else None
    for name, entry in (named or ())[:MODULE_WIDE]:
        yield f"{path}.{name}", entry
    if own(type(value)):
        for name, entry in list(getattr(value, "__dict__", {}).items())[:WIDE]:
            if not name.startswith("_"):
                yield from leaves(entry, f"{path}.{name}", own, state and named is None, depth + 1)


def state_of(value):
    """Return [(name, tensor)] of a module's or model's parameters and statistics, or None if it is neither."""
    if isinstance(value, type):
        return None
    torch = sys.modules.get("torch")
    nn = getattr(torch, "nn", None)
    try:
        if nn is not None and isinstance(value, getattr(nn, "Module", ())):
            return [*value.named_parameters(), *value.named_buffers()]
        keras = sys.modules.get("keras")
        if keras is not None and isinstance(value, getattr(keras, "Layer", ())):
            return [(f"weights[{place}]", entry) for place, entry in enumerate(value.weights)]
        tensorflow = sys.modules.get("tensorflow")
        if tensorflow is not None and isinstance(value, getattr(tensorflow, "Module", ())):
            return [(f"variables[{place}]", entry) for place, entry in enumerate(value.variables)]
    except Exception:  # half made, as in the middle of its __init__
        return []
    return None


def mark(leaf):
    """Return what changes when a leaf does."""
    if leaf is None or type(leaf) in (int, float, bool, complex):
        return repr(leaf)
    return "unknown" if is_capturing() else tensor_mark(leaf)


def digest(leaf):
    """Return a leaf as what is written down: a plain number, or a tensor's digest."""
    if leaf is None or type(leaf) in (int, float, bool, complex):
        # marshal knows no integers of other classes, and compares need no more than a hundred digits
        return ("number", leaf if not isinstance(leaf, int) or leaf.bit_length() < 300 else repr(leaf)[:100])
    return ("unknown",) if is_capturing() else tensor_digest(leaf)
