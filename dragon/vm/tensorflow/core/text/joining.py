"""`tf.strings`: strings made of several, or of numbers."""
import collections
import math

from dragon.vm.shared import errors
from dragon.vm.shared.data.rows import array_of, over_strings
from dragon.vm.shared.letters import expect
from dragon.vm.shared.ragged.making import _from_lengths
from dragon.vm.shared.ragged.tensor import RaggedTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.written.texts import written
from dragon.vm.tensorflow.core.text.mapping import as_input, map_strings, object_array


def _mark(separator):
    mark = separator.encode() if isinstance(separator, str) else convert_to_tensor(separator).numpy()
    return expect(mark, bytes, "join", "separator")


@written("join")
def join(inputs, separator="", name=None):
    """Return the strings at the same places of several tensors, joined."""
    import numpy as np
    mark = _mark(separator)
    tensors = [value if isinstance(value, RaggedTensor) else convert_to_tensor(value) for value in inputs]
    if not tensors:
        raise ValueError(f"join: at least one input is needed. Received: inputs={inputs!r}")
    if any(isinstance(tensor, RaggedTensor) for tensor in tensors):
        from dragon.vm.shared.ragged.math import elementwise
        return elementwise(lambda *flat: join(flat, separator), *tensors)
    arrays = [array_of(as_input(tensor, "join")) for tensor in tensors]
    shapes = {array.shape for array in arrays if array.ndim}
    if len(shapes) > 1:
        raise errors.InvalidArgumentError(None, None, "join: the shapes of all inputs must be equal. "
                                          f"Received: {[list(array.shape) for array in arrays]}")
    arrays = np.broadcast_arrays(*arrays)
    rows = zip(*(array.reshape(-1).tolist() for array in arrays))
    return over_strings(object_array([mark.join(row) for row in rows], arrays[0].shape))


@written("reduce_join")
def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """Return the strings along axes, joined; along all by default."""
    mark = _mark(separator)
    tensor = as_input(inputs, "reduce_join")
    if isinstance(tensor, RaggedTensor):
        return _join_ragged(tensor, axis, keepdims, mark)
    array = array_of(tensor)
    axes = list(range(array.ndim)) if axis is None else [
        int(one) for one in (axis if isinstance(axis, (list, tuple)) else [axis])]
    for one in axes:
        if not -array.ndim <= one < array.ndim:
            raise errors.InvalidArgumentError(None, None, f"Invalid reduction dimension {one} for input with "
                                              f"{array.ndim} dimension(s)")
    axes = [one % array.ndim for one in axes] if array.ndim else []
    kept = [number for number in range(array.ndim) if number not in axes]
    sizes = [array.shape[number] for number in kept]
    count = math.prod(array.shape[number] for number in axes)
    table = array.transpose(kept + axes).reshape(math.prod(sizes), count)  # of no strings the result is an empty one
    shape = [1 if number in axes else array.shape[number] for number in range(array.ndim)] if keepdims else sizes
    return over_strings(object_array([mark.join(row) for row in table.tolist()], shape))


def _join_ragged(tensor, axis, keepdims, mark):
    if axis is None:
        found = mark.join(array_of(tensor.flat_values).reshape(-1).tolist())
        return over_strings(object_array([found], [1] * tensor.ndim if keepdims else []))
    axis = tensor._axis(axis)
    if axis > 1 and isinstance(tensor.values, RaggedTensor):
        return tensor.with_values(_join_ragged(tensor.values, axis - 1, keepdims, mark))
    if axis > 1:
        return tensor.with_values(reduce_join(tensor.values, axis - 1, keepdims, mark))
    if axis != 1 or isinstance(tensor.values, RaggedTensor) or len(tensor.values.shape) > 1:
        raise NotImplementedError("reduce_join: the strings of ragged tensors are joined along their innermost axis. "
                                  f"Received: axis={axis} for shape {tensor.shape}")
    rows = tensor.to_list()
    return over_strings(object_array([mark.join(row) for row in rows], [len(rows), 1] if keepdims else [len(rows)]))


@written("unsorted_segment_join")
def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    """Return the strings of each number, joined."""
    array = array_of(as_input(inputs, "unsorted_segment_join"))
    numbers = convert_to_tensor(segment_ids).numpy()
    if array.shape != numbers.shape:
        raise NotImplementedError("unsorted_segment_join: segment_ids must have the shape of inputs. Received: "
                                  f"{list(numbers.shape)} for {list(array.shape)}")
    import numpy as np
    found = np.full(int(num_segments), b"", object)  # a number beyond memory is an error here, not an end
    groups = collections.defaultdict(list)
    for item, number in zip(array.reshape(-1).tolist(), numbers.reshape(-1).tolist()):
        if number >= len(found):
            raise errors.InvalidArgumentError(None, None, f"segment_ids[{number}] out of range [0, {len(found)})")
        if number >= 0:
            groups[number].append(item)
    for number, group in groups.items():
        while group and not group[0]:  # what follows nothing has no separator
            del group[0]
        found[number] = _mark(separator).join(group)
    return over_strings(found)


@written("ngrams")
def ngrams(data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False,
           name=None):
    """Return the runs of neighbouring strings of each row, joined.

    Parameters
    ----------
    data : Union[Tensor, RaggedTensor]
        Rows of strings.
    ngram_width : Union[int, Sequence[int]]
        How many strings make a run; several widths follow each other in a row.
    separator : str, optional, default=" "
        What stands between them.
    pad_values : Union[str, tuple], optional
        What is put before and after a row.
    padding_width : int, optional
        How often at most.
    preserve_short_sequences : bool, optional, default=False
        Whether a row that is too short for any run is a run itself.

    """
    widths = [int(ngram_width)] if not isinstance(ngram_width, (list, tuple)) else [int(one) for one in ngram_width]
    if not all(width > 0 for width in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Received: ngram_width={ngram_width}")
    if padding_width is not None and (pad_values is None or int(padding_width) < 1):
        raise ValueError("padding_width must be positive and go with pad_values. Received: "
                         f"padding_width={padding_width}, pad_values={pad_values!r}")
    tensor, mark = as_input(data, "ngrams"), _mark(separator)
    pads = None
    if pad_values is not None:
        pads = [_mark(one) for one in (pad_values if isinstance(pad_values, (list, tuple)) else [pad_values] * 2)]

    def runs(row):
        found = []
        for width in widths:
            extra = 0 if pads is None else width - 1 if padding_width is None else min(int(padding_width), width - 1)
            padded = [pads[0]] * extra + row + [pads[1]] * extra if pads else row
            found += [mark.join(padded[at:at + width]) for at in range(len(padded) - width + 1)]
        if not found and row and preserve_short_sequences:
            whole = row if pads is None else [pads[0]] * extra + row + [pads[1]] * extra
            found = [mark.join(whole)]
        return found
    if isinstance(tensor, RaggedTensor):
        return _runs_of_rows(tensor, runs)
    array = array_of(tensor)
    if array.ndim < 2:
        found = runs(array.reshape(-1).tolist())
        return over_strings(object_array(found, [len(found)]))
    rows = [runs(row) for row in array.reshape(-1, array.shape[-1]).tolist()]
    flat = [item for row in rows for item in row]
    return over_strings(object_array(flat, [*array.shape[:-1], len(rows[0]) if rows else 0]))


def _runs_of_rows(tensor, runs):
    if isinstance(tensor.values, RaggedTensor):
        return tensor.with_values(_runs_of_rows(tensor.values, runs))
    rows = [runs(row) for row in tensor.to_list()]
    flat = [item for row in rows for item in row]
    return _from_lengths(over_strings(object_array(flat, [len(flat)])), [len(row) for row in rows],
                         tensor._splits_dtype)


@written("format", tensors=True)
def format(template, inputs, placeholder="{}", summarize=3, name=None):
    """Return a text with tensors put in the places of a placeholder, long ones shortened."""
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    parts = expect(template, str, "format", "template").split(expect(placeholder, str, "format", "placeholder"))
    if len(parts) - 1 != len(inputs):
        raise ValueError(f"The template expects {len(parts) - 1} tensors, but the inputs only has {len(inputs)}. "
                         "Please ensure that the number of placeholders in the template matches the number of inputs.")
    found = parts[0]
    for value, part in zip(inputs, parts[1:]):
        found += _show(array_of(convert_to_tensor(value)), int(summarize)) + part
    return convert_to_tensor(found)


def _show(array, summarize, depth=1):
    if isinstance(array, bytes) or not array.ndim:
        item = array if isinstance(array, bytes) else array[()]
        return f'"{item.decode()}"' if isinstance(item, bytes) else _number(item)
    parts = [_show(part, summarize, depth + 1) for part in array]
    if 0 <= 2 * summarize < len(parts):
        parts = parts[:summarize] + ["..."] + parts[len(parts) - summarize:]
    # Rows of rows stand on lines of their own.
    gap = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * depth
    return "[" + gap.join(parts) + "]"


def _number(item):
    """Return a number as TensorFlow's `strings.format` has it: with the digits that tell it from its neighbours."""
    import numpy as np
    if item.dtype.kind == "b":
        return str(int(item))
    if item.dtype.kind in "iuc":
        return str(item)
    if item.dtype == np.float64:
        return f"{item:.15g}" if float(f"{item:.15g}") == item else f"{item:.17g}"
    item = np.float32(item)
    return f"{item:.6g}" if np.float32(f"{item:.6g}") == item else f"{item:.9g}"


@written("as_string", tensors=True)
def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None):
    """Return numbers as text.

    Parameters
    ----------
    input : Tensor
        The numbers.
    precision : int, optional, default=-1
        How many digits follow the point; six by default.
    scientific : bool, optional, default=False
        Whether powers of ten are written.
    shortest : bool, optional, default=False
        Whether the shorter of both ways is taken.
    width : int, optional, default=-1
        To how many characters texts are filled up.
    fill : str, optional, default=""
        What fills up before the text: "0", "+" or " "; "-" fills up behind it with spaces.

    """
    if scientific and shortest:
        raise errors.InvalidArgumentError(None, None, "Cannot select both scientific and shortest notation")
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(as_string(input.flat_values, precision, scientific, shortest, width, fill))
    tensor = convert_to_tensor(input)
    if tensor.dtype.name == "string":
        return map_strings(tensor, lambda item: _pad(item.decode(), width, fill).encode(), "as_string")
    if len(fill) > 1 or fill not in ("", " ", "-", "+", "0", "#"):
        raise errors.InvalidArgumentError(None, None, f"Fill argument not supported: {fill!r}")
    if width >= 2 ** 31 or precision >= 2 ** 31:
        raise errors.InvalidArgumentError(
            None, None, f"Expected a width and a precision below 2 ** 31. Received: {width} and {precision}")
    array = array_of(tensor)
    if tensor.dtype.is_bool:
        show = _bool
    elif tensor.dtype.is_floating or tensor.dtype.is_complex:
        letter = "e" if scientific else "g" if shortest else "f"
        rule = f"%{fill}{width if width > 0 else ''}" + (f".{precision}" if precision >= 0 else "") + letter
        show = (lambda item: f"({rule % item.real},{rule % item.imag})") if tensor.dtype.is_complex else (
            lambda item: rule % item)
    else:
        rule = f"%{fill}{width if width > 0 else ''}d"
        show = rule.__mod__
    return over_strings(object_array([show(item).encode() for item in array.reshape(-1).tolist()], array.shape))


def _bool(item):
    return "true" if item else "false"


def _pad(text, width, fill):
    return text if width < 0 else text.ljust(width) if fill == "-" else text.rjust(width)
