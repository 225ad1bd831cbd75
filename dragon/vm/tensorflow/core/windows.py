"""Strides, gaps and paddings of windows as TensorFlow tells them: by name, by axis of the input, or by one number."""
from dragon.vm.shared.arrays.array import as_ints
from dragon.vm.shared.errors import invalid_argument


def layout(data_format, count):
    """Return Keras's word for TensorFlow's layout."""
    known = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}.get(count)
    if known is None:
        raise ValueError("Windows slide over one to three axes between the batch and the channels. "
                         f"Received: {count} such axes")
    if data_format is None or data_format == known[0]:
        return "channels_last"
    if data_format in (known[1], "NC"):
        return "channels_first"
    raise ValueError(f"`data_format` must be either {' or '.join(map(repr, known))}. Received: {data_format!r}")


def by_axis(value, count, data_format, what):
    """Return one number for each spatial axis: of one number, of those, or of numbers for all axes of the input."""
    value = [1] if value is None else as_ints(value)
    value = [value] if isinstance(value, int) else list(value)
    if len(value) == 1:
        return tuple(value * count)
    if len(value) == count + 2:
        outer = (value[0], value[-1]) if data_format == "channels_last" else tuple(value[:2])
        if outer != (1, 1):
            raise invalid_argument(f"Current implementation does not yet support {what} in the batch and depth "
                                   f"dimensions. Received: {value}")
        value = value[1:-1] if data_format == "channels_last" else value[2:]
    if len(value) != count:
        raise ValueError(f"`{what}` should be of length 1, {count} or {count + 2} but was {len(value)}. "
                         f"Received: {value}")
    return tuple(value)


def explicit_padding(padding, count, data_format):
    """Return (before, after) of paddings by axis, or None for a name."""
    if isinstance(padding, str):
        if padding.upper() not in ("VALID", "SAME"):
            raise ValueError("`padding` must be either 'VALID' or 'SAME', or pairs of numbers for all axes. "
                             f"Received: padding={padding}")
        return None
    pairs = [tuple(as_ints(pair)) for pair in padding]
    if len(pairs) != count + 2:
        raise ValueError(f"Explicit paddings must be pairs for {count + 2} axes. Received: padding={padding}")
    pairs = pairs[1:-1] if data_format == "channels_last" else pairs[2:]
    return [before for before, _ in pairs], [after for _, after in pairs]
