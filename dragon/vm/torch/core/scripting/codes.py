"""The numbers that scripts have for dtypes, layouts and memory formats."""
import functools

from dragon.vm.torch.core.api import api

DTYPES = {"uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float16": 5, "float32": 6, "float64": 7,
          "complex32": 8, "complex64": 9, "complex128": 10, "bool": 11, "qint8": 12, "quint8": 13, "qint32": 14,
          "bfloat16": 15, "float8_e5m2": 23, "float8_e4m3fn": 24, "uint16": 27, "uint32": 28, "uint64": 29}
LAYOUTS = {"strided": 0, "sparse_coo": 1, "sparse_csr": 2, "_mkldnn": 3, "sparse_csc": 4, "sparse_bsr": 5,
           "sparse_bsc": 6, "jagged": 7}
FORMATS = {"contiguous_format": 0, "preserve_format": 1, "channels_last": 2, "channels_last_3d": 3}
TABLES = {"dtype": DTYPES, "layout": LAYOUTS, "memory_format": FORMATS}


@functools.lru_cache(None)
def tables():
    """Return ({argument name: {number: object}}, {object: number})."""
    torch = api()
    back, there = {}, {}
    for word, table in TABLES.items():
        back[word] = {number: getattr(torch, name) for name, number in table.items() if hasattr(torch, name)}
        there.update({(word, str(value)): number for number, value in back[word].items()})
    return back, there


def to_code(value):
    """Return a number for a dtype, layout or memory format; anything else as it is."""
    torch = api()
    for word, kind in (("dtype", torch.dtype), ("layout", torch.layout), ("memory_format", torch.memory_format)):
        if isinstance(value, kind):
            return tables()[1][word, str(value)]
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(map(to_code, value)) if type(value) in (list, tuple) else list(map(to_code, value))
    return value


def from_code(word, number):
    """Return the dtype, layout or memory format of a number."""
    table = tables()[0][word]
    if number not in table:
        raise ValueError(f"script: got {word} number {number}, expected one of {sorted(table)}")
    return table[number]
