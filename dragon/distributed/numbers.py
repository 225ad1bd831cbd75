"""Numbers that others carry: what MPI reduces as Dragon does, and the reductions of all else, once it has come."""
import numpy as np

from dragon.distributed.errors import DistributedError

# MPI's names of Dragon's dtypes. Halves have none: they are added as floats.
TYPES = {"bool": "UINT8_T", "uint8": "UINT8_T", "int8": "INT8_T", "int16": "INT16_T", "int32": "INT32_T",
         "int64": "INT64_T", "float32": "FLOAT", "float64": "DOUBLE", "complex64": "C_FLOAT_COMPLEX",
         "complex128": "C_DOUBLE_COMPLEX"}
OPERATIONS = {"sum": "SUM", "average": "SUM", "product": "PROD", "minimum": "MIN", "maximum": "MAX", "and": "BAND",
              "or": "BOR", "xor": "BXOR"}
# Truths are bytes of 0 and 1.
OF_TRUTHS = {"sum": "BOR", "product": "BAND", "minimum": "BAND", "maximum": "BOR", "and": "BAND", "or": "BOR",
             "xor": "BXOR"}
HALVES = ("float16", "bfloat16")
SINGLE_BITS = 16  # by which a bfloat16 lies above the end of a float32
FOLDS = {"sum": np.add, "average": np.add, "product": np.multiply, "minimum": np.minimum, "maximum": np.maximum,
         "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def item_size(dtype):
    """Return how many bytes a number takes."""
    return 2 if dtype in HALVES else np.dtype(dtype).itemsize


def is_foldable(dtype, reduction):
    """Return whether MPI reduces such numbers as Dragon does: it knows no halves, and loses NaN in an order."""
    return dtype not in HALVES and not (dtype.startswith("float") and reduction in ("minimum", "maximum"))


def operation(dtype, reduction):
    """Return MPI's names of a dtype and of a reduction of it."""
    if dtype not in TYPES:
        raise DistributedError(f"MPI: got the reduction {reduction!r} of {dtype}, expected one of "
                               f"{', '.join([*TYPES, *HALVES])}")
    return TYPES[dtype], (OF_TRUTHS if dtype == "bool" else OPERATIONS)[reduction]


def read(memory, dtype):
    """Return numbers of memory as NumPy computes with them: the same memory, or floats in the place of halves."""
    if dtype == "bfloat16":
        return (np.frombuffer(memory, np.uint16).astype(np.uint32) << SINGLE_BITS).view(np.float32)
    found = np.frombuffer(memory, dtype)
    return found.astype(np.float32) if dtype == "float16" else found


def write(numbers, memory, dtype):
    """Write numbers into memory, rounded to the nearest half where they are halves."""
    if dtype == "bfloat16":
        bits = numbers.view(np.uint32)
        # To the nearest, and to the even one of two.
        rounded = ((bits + 0x7FFF + ((bits >> SINGLE_BITS) & 1)) >> SINGLE_BITS).astype(np.uint16)
        np.frombuffer(memory, np.uint16)[:] = np.where(np.isnan(numbers), np.uint16(0x7FC0), rounded)
    else:
        np.frombuffer(memory, dtype)[:] = numbers


def fold(parts, memory, dtype, reduction):
    """Write the reduction of all ranks' numbers, in the order of the ranks."""
    with np.errstate(all="ignore"):
        result = read(parts[0], dtype).copy()
        for part in parts[1:]:
            FOLDS[reduction](result, read(part, dtype), out=result)
        write(divide(result, len(parts)) if reduction == "average" else result, memory, dtype)


def finish(memory, dtype, reduction, count):
    """Divide a sum of so many ranks' numbers where an average is wanted."""
    if reduction == "average":
        numbers = np.frombuffer(memory, dtype)
        numbers[:] = divide(numbers, count)


def divide(numbers, count):
    """Return numbers divided by a count; whole ones are cut off towards zero, as the engine divides them."""
    if numbers.dtype.kind in "iu":
        return numbers // count + ((numbers % count != 0) & (numbers < 0))
    return numbers / numbers.dtype.type(count)
