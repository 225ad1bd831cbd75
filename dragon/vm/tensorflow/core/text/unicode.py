"""`tf.strings`: text as characters and their numbers."""
from dragon.vm.shared import errors
from dragon.vm.shared.data.rows import array_of, over_strings, wrap_array
from dragon.vm.shared.ragged.tensor import RaggedTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.written.texts import written
from dragon.vm.tensorflow.core.text.mapping import (BAD_CHARACTER, codec_of, decoder, map_rows, map_strings,
                                                    object_array, place_of_characters)


def _numbers(dtype):
    """Return a function from a list of numbers to a tensor."""
    import numpy as np
    return lambda items: wrap_array(np.array(items, dtype))


@written("unicode_decode")
def unicode_decode(input, input_encoding, errors="replace", replacement_char=BAD_CHARACTER,
                   replace_control_characters=False, name=None):
    """Return the numbers of the characters of each string as a row.

    Parameters
    ----------
    input : Tensor
        The strings.
    input_encoding : str
        "UTF-8", "UTF-16-BE" or "UTF-32-BE".
    errors : str, optional, default="replace"
        What is done with bytes that are no character: "replace", "ignore" or "strict".
    replace_control_characters : bool, optional, default=False
        Whether it also takes the place of control characters.

    """
    decode = decoder(input_encoding, errors, replacement_char, replace_control_characters, "unicode_decode")
    return map_rows(input, lambda item: [ord(one) for one in decode(item)], "unicode_decode", _numbers("int32"))


def unicode_decode_with_offsets(input, input_encoding, errors="replace", replacement_char=BAD_CHARACTER,
                                replace_control_characters=False, name=None):
    """Return the numbers of the characters of each string, and where each begins in its bytes."""
    found = unicode_decode(input, input_encoding, errors, replacement_char, replace_control_characters)
    return found, _offsets(input, input_encoding, errors, replacement_char)


def _offsets(input, input_encoding, mode, replacement_char):
    codec = codec_of(input_encoding, "unicode_decode")
    decode = decoder(input_encoding, mode, BAD_CHARACTER, False, "unicode_decode")
    return map_rows(input, lambda item: place_of_characters(decode(item), codec), "unicode_decode", _numbers("int64"))


@written("unicode_split")
def unicode_split(input, input_encoding, errors="replace", replacement_char=BAD_CHARACTER, name=None):
    """Return the characters of each string as a row of strings; see `unicode_decode`."""
    codec = codec_of(input_encoding, "unicode_split")
    decode = decoder(input_encoding, errors, replacement_char, False, "unicode_split")
    return map_rows(input, lambda item: [one.encode(codec) for one in decode(item)], "unicode_split")


def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=BAD_CHARACTER, name=None):
    """Return the characters of each string, and where each begins in its bytes."""
    found = unicode_split(input, input_encoding, errors, replacement_char)
    return found, _offsets(input, input_encoding, errors, replacement_char)


@written("unicode_transcode")
def unicode_transcode(input, input_encoding, output_encoding, errors="replace", replacement_char=BAD_CHARACTER,
                      replace_control_characters=False, name=None):
    """Return text in another encoding; see `unicode_decode`."""
    codec = codec_of(output_encoding, "unicode_transcode")
    decode = decoder(input_encoding, errors, replacement_char, replace_control_characters, "unicode_transcode")
    return map_strings(input, lambda item: decode(item).encode(codec, "replace"), "unicode_transcode")


def unicode_encode(input, output_encoding, errors="replace", replacement_char=BAD_CHARACTER, name=None):
    """Return each row of characters' numbers as a string.

    Parameters
    ----------
    input : Union[Tensor, RaggedTensor]
        The numbers, int32.
    output_encoding : str
        "UTF-8", "UTF-16-BE" or "UTF-32-BE".
    errors : str, optional, default="replace"
        What is done with numbers of no character: "replace", "ignore" or "strict".

    """
    codec = codec_of(output_encoding, "unicode_encode")
    tensor = input if isinstance(input, RaggedTensor) else convert_to_tensor(input, dtype_hint="int32")
    if isinstance(tensor, RaggedTensor):
        if tensor.ragged_rank > 1:
            return tensor.with_values(unicode_encode(tensor.values, output_encoding, errors, replacement_char))
        rows = tensor.to_list()
        return over_strings(object_array([_encode(row, codec, errors, replacement_char) for row in rows], [len(rows)]))
    array = array_of(tensor)
    rows = array.reshape(-1, array.shape[-1]).tolist() if array.size else [[]] * max(array.size, 1)
    found = [_encode(row, codec, errors, replacement_char) for row in rows]
    return over_strings(object_array(found, array.shape[:-1]))


def _encode(numbers, codec, mode, replacement):
    characters = []
    for number in numbers:
        if 0 <= number < 0x110000 and not 0xD800 <= number < 0xE000:
            characters.append(chr(number))
        elif mode == "strict":
            raise errors.InvalidArgumentError(None, None, "Code point is out of range for Unicode, or a noncharacter. "
                                              f"Received: {number}")
        elif mode == "replace":
            characters.append(chr(replacement))
    return "".join(characters).encode(codec)
