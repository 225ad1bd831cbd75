"""`tf.io`: bytes and text as numbers, and tensors as bytes."""
import base64
import binascii
import csv
import io

from dragon.core.files import most_held
from dragon.io.sources.compressed import Inflated
from dragon.vm.shared import errors
from dragon.vm.shared.data.csv_columns import Column
from dragon.vm.shared.data.rows import array_of, over_strings, wrap_array
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.strings import StringTensor
from dragon.vm.shared.written.texts import written


def _strings(value, who):
    tensor = value if isinstance(value, StringTensor) else convert_to_tensor(value)
    if tensor.dtype.name != "string":
        raise errors.InvalidArgumentError(None, None, f"{who}: expected strings. Received: dtype {tensor.dtype.name}")
    return array_of(tensor)


def _each(array, function):
    """Return an array of strings of what a function gives for each string."""
    import numpy as np
    found = np.empty(array.shape, object)
    for place in np.ndindex(array.shape):
        found[place] = function(array[place])
    return over_strings(found)


@written("decode_raw")
def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """Return the numbers that strings hold as raw bytes.

    Parameters
    ----------
    input_bytes : Tensor
        The strings, all of one length.
    out_type : DType
        The dtype of the numbers.
    little_endian : bool, optional, default=True
        The order of the bytes of a number.
    fixed_length : int, optional
        To how many bytes strings are cut or filled up with zeros.

    """
    import numpy as np
    array, dtype = _strings(input_bytes, "decode_raw"), as_dtype(out_type)
    if not array.ndim and fixed_length is None and (little_endian or dtype.size == 1):
        item = array[()]
        if len(item) % dtype.size == 0:
            return wrap_array(np.frombuffer(item, dtype.as_numpy_dtype).copy())
    items = array.reshape(-1).tolist()
    if fixed_length is not None:
        items = [item[:int(fixed_length)].ljust(int(fixed_length), b"\0") for item in items]
    sizes = {len(item) for item in items}
    if len(sizes) > 1:
        raise errors.InvalidArgumentError(None, None, "DecodeRaw requires input strings to all be the same size, but "
                                          f"their sizes are {sorted(sizes)}")
    kind = np.dtype(dtype.as_numpy_dtype)
    if sizes and max(sizes) % kind.itemsize:
        raise errors.InvalidArgumentError(None, None, f"Input to DecodeRaw has length {max(sizes)} that is not a "
                                          f"multiple of {kind.itemsize}, the size of {dtype.name}")
    numbers = np.frombuffer(b"".join(items), kind if little_endian or kind.itemsize == 1 else kind.newbyteorder(">"))
    shape = [*array.shape, max(sizes, default=0) // kind.itemsize]
    return wrap_array(numbers.astype(kind).reshape(shape))


def _inflate(item, compression):
    """Return what is compressed in bytes; more than a hundred times as many are taken for hostile."""
    most, file = most_held(len(item)), Inflated(io.BytesIO(item), compression, _damaged)
    found = file.read(most + 1)
    if len(found) > most:
        raise errors.ResourceExhaustedError(None, None, f"decode_compressed: {len(item)} bytes hold more than {most}")
    if file.torn:
        raise _damaged("incomplete or truncated stream")
    return found


def _damaged(what):
    return errors.DataLossError(None, None, f"decode_compressed: {what}")


@written("decode_compressed")
def decode_compressed(bytes, compression_type="", name=None):
    """Return strings that were compressed by zlib or gzip as what they were."""
    if compression_type not in ("", "ZLIB", "GZIP"):
        raise errors.InvalidArgumentError(None, None, "decode_compressed: compression_type must be '', 'ZLIB' or "
                                          f"'GZIP'. Received: {compression_type!r}")
    array = _strings(bytes, "decode_compressed")
    if not compression_type:
        return over_strings(array)
    return _each(array, lambda item: _inflate(item, compression_type.lower()))


@written("encode_base64")
def encode_base64(input, pad=False, name=None):
    """Return strings in the alphabet of base 64 that addresses of pages can hold."""
    def encode(item):
        text = base64.urlsafe_b64encode(item)
        return text if pad else text.rstrip(b"=")
    return _each(_strings(input, "encode_base64"), encode)


@written("decode_base64")
def decode_base64(input, name=None):
    """Return what `encode_base64` was given."""
    def decode(item):
        try:
            return base64.b64decode(item.rstrip(b"=") + b"=" * (-len(item.rstrip(b"=")) % 4), b"-_", validate=True)
        except binascii.Error as error:
            raise errors.InvalidArgumentError(None, None, f"decode_base64: {error}. Received: {item!r}") from None
    return _each(_strings(input, "decode_base64"), decode)


@written("serialize_tensor", tensors=True)
def serialize_tensor(tensor, name=None):
    """Return a tensor as the bytes of a message, which `parse_tensor` reads."""
    from dragon.vm.shared.files.tensor_proto import serialize
    return convert_to_tensor(serialize(convert_to_tensor(tensor)))


@written("parse_tensor")
def parse_tensor(serialized, out_type, name=None):
    """Return the tensor that the bytes of a message hold; it must have the dtype `out_type`."""
    from dragon.vm.shared.files.tensor_proto import parse
    tensor = parse(_strings(serialized, "parse_tensor")[()])
    if tensor.dtype != as_dtype(out_type):
        raise errors.InvalidArgumentError(None, None, f"Type mismatch between parsed tensor ({tensor.dtype.name}) and "
                                          f"dtype ({as_dtype(out_type).name})")
    return tensor


def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None,
               name=None):
    """Return the columns of lines of comma separated values as a list of tensors.

    Parameters
    ----------
    records : Tensor
        The lines.
    record_defaults : Sequence
        For each column a tensor of its dtype: empty where a value must be there, else with the value of empty fields.
    field_delim : str, optional, default=","
        What stands between fields.
    use_quote_delim : bool, optional, default=True
        Whether quotes hold fields together.
    na_value : str, optional, default=""
        A further text that stands for an empty field.
    select_cols : Sequence[int], optional
        The columns that are read; all by default.

    """
    import numpy as np
    array = _strings(records, "decode_csv")
    columns = [Column(default, number, na_value) for number, default in enumerate(record_defaults)]
    width = len(columns)
    chosen = None if select_cols is None else [int(number) for number in select_cols]
    if chosen is not None and (len(chosen) != width or sorted(set(chosen)) != chosen):
        raise ValueError("decode_csv: select_cols must increase and be as many as record_defaults. Received: "
                         f"{select_cols!r} for {width} defaults")
    quoting = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
    lines = [item.decode("utf-8", "surrogateescape") for item in array.reshape(-1).tolist()]
    rows = []
    for number, line in enumerate(lines):
        fields = next(csv.reader([line], delimiter=field_delim, quoting=quoting), [""])
        if chosen is not None:
            fields = [fields[place] for place in chosen if place < len(fields)]
        if len(fields) != width:
            raise errors.InvalidArgumentError(None, None, f"Expect {width} fields but have {len(fields)} in record "
                                              f"{number}. Received: {line!r}")
        rows.append(fields)
    found = []
    for number, column in enumerate(columns):
        values = column.read([fields[number] for fields in rows])
        found.append(wrap_array(values.reshape(array.shape)) if values.dtype != object else (
            over_strings(values.reshape(np.shape(array)))))
    return found
