"""Files of Hugging Face's format: a size, a table in JSON, and the tensors' bytes one after another."""
import json
import os
import struct

from dragon.vm import torch

_HEAD = struct.Struct("<Q")
_MOST = 100_000_000  # bytes of a table, as the format's own readers have it
_NAMES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
          "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool", "C64": "complex64"}


def dtype_of(name):
    """Return the dtype of a name in tables."""
    if name not in _NAMES:
        raise NotImplementedError(f"safetensors: got the dtype {name}, expected one of {', '.join(_NAMES)}")
    return getattr(torch, _NAMES[name])


def write(stream, tensors, texts):
    """Write tensors, and some texts by names.

    Parameters
    ----------
    stream : BinaryIO
        Where.
    tensors : Dict[str, torch.Tensor]
        The tensors.
    texts : Dict[str, str]
        The texts.

    """
    names = {getattr(torch, word): name for name, word in _NAMES.items()}
    table, at, held = {"__metadata__": texts}, 0, {}
    # The widest come first, so that each tensor's bytes begin at a multiple of what one number takes.
    for name in sorted(tensors, key=lambda name: (-tensors[name].element_size(), name)):
        tensor = tensors[name].detach().cpu().contiguous()
        if tensor.dtype not in names:
            raise NotImplementedError(f"safetensors: got {name} of {tensor.dtype}, expected one of "
                                      f"{', '.join(_NAMES.values())}")
        end = at + tensor.numel() * tensor.element_size()
        table[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, end]}
        held[name], at = tensor, end
    head = json.dumps(table, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    stream.write(_HEAD.pack(len(head)) + head)
    for tensor in held.values():
        stream.write(memoryview(tensor.reshape(-1).view(torch.uint8).numpy()) if tensor.numel() else b"")


def read_table(stream):
    """Return (the table, the texts, where bytes begin) of an open file; the table is checked against its length."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    head = stream.read(_HEAD.size)
    length = _HEAD.unpack(head)[0] if len(head) == _HEAD.size else size
    start = _HEAD.size + length
    if length > _MOST or start > size:
        raise ValueError(f"safetensors: got a table of {length} bytes in a file of {size}, expected a whole one")
    table = json.loads(stream.read(length))
    texts = table.pop("__metadata__", {})
    for name, entry in table.items():
        begin, end = entry["data_offsets"]
        count = dtype_of(entry["dtype"]).itemsize
        for number in entry["shape"]:
            count *= number
        if not 0 <= begin <= end <= size - start or end - begin != count:
            raise ValueError(f"safetensors: got {name} at bytes {begin} to {end} of {size - start}, expected {count} "
                             "of them within the file")
    return table, texts, start


def read(stream, entry, start):
    """Return one tensor of an open file."""
    begin, end = entry["data_offsets"]
    dtype = dtype_of(entry["dtype"])
    if begin == end:
        return torch.empty(entry["shape"], dtype=dtype)
    stream.seek(start + begin)
    return torch.frombuffer(bytearray(stream.read(end - begin)), dtype=dtype).reshape(entry["shape"])
