"""`tf.compat`: text and bytes, and what programs use of TensorFlow 1 (`v1`)."""
from dragon.vm.guest import lookup as _lookup

bytes_or_text_types = (bytes, str)


def as_bytes(bytes_or_text, encoding="utf-8"):
    """Return text or bytes as bytes."""
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text, encoding="utf-8"):
    """Return text or bytes as text."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text).decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value, encoding="utf-8"):
    """Return anything as text; bytes are decoded."""
    return as_text(value, encoding) if isinstance(value, (bytes, bytearray)) else str(value)


def path_to_str(path):
    """Return a path as text."""
    import os
    return os.fspath(path)


def dimension_value(dimension):
    """Return a size as an int or None."""
    return getattr(dimension, "value", dimension)


def dimension_at_index(shape, index):
    """Return a size of a shape."""
    return shape[index]


def forward_compatible(year, month, day):
    """Return True: nobody has to read what a newer version writes."""
    return True


def _number_types():
    import numpy as np
    return {"integral_types": (int, np.integer), "real_types": (int, float, np.integer, np.floating),
            "complex_types": (int, float, complex, np.number)}


_find, __dir__ = _lookup(globals())


def __getattr__(name):
    if name in ("integral_types", "real_types", "complex_types"):
        return globals().setdefault(name, _number_types()[name])
    if name == "v2":
        from dragon.vm import tensorflow
        return tensorflow
    return _find(name)
