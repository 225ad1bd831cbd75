"""The base of functions of strings: they change each string of a tensor, or make rows of strings."""
import functools
import re

from dragon.vm.shared import errors
from dragon.vm.shared.data.rows import array_of, over_strings, wrap_array
from dragon.vm.shared.ragged.making import _from_lengths
from dragon.vm.shared.ragged.tensor import RaggedTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype

BAD_CHARACTER = 0xFFFD


def as_input(value, who):
    """Return a tensor of strings, ragged or not, or raise."""
    tensor = value if isinstance(value, RaggedTensor) else convert_to_tensor(value)
    if tensor.dtype.name != "string":
        raise errors.InvalidArgumentError(
            None, None, f"{who}: expected a string tensor. Received: a {tensor.dtype.name} tensor")
    return tensor


def items_of(tensor):
    """Return the strings of a tensor without its axes, as a list."""
    return array_of(tensor).reshape(-1).tolist()


def object_array(items, shape):
    """Return a list of bytes as an array."""
    import numpy as np
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def map_strings(value, function, who):
    """Return a tensor, ragged or not, of what a function gives for each string."""
    tensor = as_input(value, who)
    if isinstance(tensor, RaggedTensor):
        return tensor.with_flat_values(map_strings(tensor.flat_values, function, who))
    array = array_of(tensor)
    return over_strings(object_array([function(item) for item in items_of(tensor)], array.shape))


def map_numbers(value, function, dtype, who):
    """Return a tensor, ragged or not, of the number that a function gives for each string."""
    import numpy as np
    tensor = as_input(value, who)
    if isinstance(tensor, RaggedTensor):
        return tensor.with_flat_values(map_numbers(tensor.flat_values, function, dtype, who))
    found = [function(item) for item in items_of(tensor)]
    return wrap_array(np.array(found, as_dtype(dtype).as_numpy_dtype).reshape(array_of(tensor).shape))


def map_rows(value, function, who, make=None):
    """Return a ragged tensor of the lists that a function gives for each string; one axis more than the strings have.

    Parameters
    ----------
    value : Union[Tensor, RaggedTensor]
        The strings.
    function : Callable
        Gives a list for a string.
    make : Callable, optional
        Makes a tensor of the joined lists; strings by default.

    """
    import numpy as np
    tensor = as_input(value, who)
    make = make or (lambda items: over_strings(object_array(items, [len(items)])))
    if isinstance(tensor, RaggedTensor):
        return tensor.with_flat_values(map_rows(tensor.flat_values, function, who, make))
    lists = [function(item) for item in items_of(tensor)]
    values = make([item for one in lists for item in one])
    shape = list(tensor.shape)
    if not shape:
        return values
    found = _from_lengths(values, [len(one) for one in lists], as_dtype("int64"))
    for axis in range(len(shape) - 1, 0, -1):
        found = _from_lengths(found, np.full(int(np.prod(shape[:axis])), shape[axis]), as_dtype("int64"))
    return found


def as_text(item):
    """Return a string's bytes as characters; those that are no UTF-8 stay what they are."""
    return item.decode("utf-8", "surrogateescape")


@functools.lru_cache(256)
def compile_pattern(pattern):
    """Return a regular expression of characters, RE2's as far as Python knows it; see `as_text`."""
    try:
        return re.compile(re.sub(r"\\z", r"\\Z", as_text(pattern)), re.ASCII)
    except re.error as error:
        raise errors.InvalidArgumentError(None, None, f"Invalid pattern: {pattern.decode(errors='replace')}, error: "
                                          f"{error}") from None


def pattern_of(value, who):
    """Return the compiled pattern of a scalar of strings."""
    tensor = as_input(value, who)
    if len(tensor.shape):
        raise errors.InvalidArgumentError(None, None, f"{who}: Pattern must be scalar, but received {tensor.shape}")
    return compile_pattern(tensor.numpy())


def codec_of(encoding, who):
    """Return Python's name of an encoding."""
    names = {"utf-8": "utf-8", "utf8": "utf-8", "utf-16-be": "utf-16-be", "utf-32-be": "utf-32-be",
             "us-ascii": "ascii", "ascii": "ascii", "latin-1": "latin-1", "latin1": "latin-1",
             "iso-8859-1": "latin-1"}
    found = names.get(str(encoding).lower())
    if found is None:
        raise errors.InvalidArgumentError(None, None, f"{who}: Could not create converter for input encoding: "
                                          f"{encoding}")
    return found


def decoder(encoding, mode, replacement, control, who):
    """Return a function from bytes to text, with what cannot be read treated as a mode says.

    Parameters
    ----------
    encoding : str
        How the bytes are to be read.
    mode : str
        "replace", "ignore" or "strict".
    replacement : int
        The character that stands for what cannot be read.
    control : bool
        Whether it stands for control characters too.

    """
    codec = codec_of(encoding, who)
    if mode not in ("replace", "ignore", "strict"):
        raise errors.InvalidArgumentError(None, None, f"{who}: errors must be 'replace', 'ignore' or 'strict'. "
                                          f"Received: {mode!r}")
    mark, bad = chr(int(replacement)), chr(BAD_CHARACTER)

    def decode(item):
        try:
            text = item.decode(codec, mode)
        except UnicodeDecodeError:
            raise errors.InvalidArgumentError(None, None, "Invalid formatting on input string") from None
        if mode == "replace" and mark != bad:
            text = text.replace(bad, mark)
        if control:
            text = "".join(mark if ord(character) < 32 else character for character in text)
        return text
    return decode


def place_of_characters(text, codec):
    """Return where each character of a text begins in its bytes."""
    places, at = [], 0
    for character in text:
        places.append(at)
        at += len(character.encode(codec, "surrogatepass"))
    return places
