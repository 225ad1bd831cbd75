"""What a rank says it is about to do with the others: all have to say the same."""
from dragon.distributed.errors import DistributedError
from dragon.distributed.numbers import OPERATIONS

COLLECTIVES = ("all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter", "gather", "scatter", "all_to_all",
               "barrier")
REDUCTIONS = ("", *OPERATIONS)
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
          "complex128", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
          "float8_e5m2fnuz", "complex32")
IN_BYTES = ("broadcast", "all_gather", "gather", "scatter")  # of which the number of bytes is told
LENGTH = 6  # numbers of a signature


def sign(number, collective, reduction="", dtype="", count=0, root=-1):
    """Return a call in numbers: which of the group it is, what is done, with what, and who is its root."""
    return (number, COLLECTIVES.index(collective), REDUCTIONS.index(reduction),
            DTYPES.index(dtype) if dtype else -1, count, root)


def compare(rank, signatures):
    """Raise where ranks are about to do different things, as this one sees it; all see it, so all can go on."""
    mine = tuple(map(int, signatures[rank]))
    for other, theirs in enumerate(signatures):
        theirs = tuple(map(int, theirs))
        if theirs != mine:
            raise DistributedError(
                f"{COLLECTIVES[mine[1]]}: got {describe(mine)} on rank {rank} and {describe(theirs)} on rank {other} "
                f"as collective {mine[0]} of the group, expected the same on all ranks")


def describe(signature):
    """Return a call in words."""
    _, collective, reduction, dtype, count, root = signature
    name = COLLECTIVES[collective]
    words = name + (f"({REDUCTIONS[reduction]})" if reduction else "")
    if name not in ("barrier", "all_to_all"):
        unit = "byte" if name in IN_BYTES else "element"
        words += f" of {count} {unit}{'s' * (count != 1)} of {DTYPES[dtype]}"
    if root >= 0:
        words += f" {'to' if name in ('reduce', 'gather') else 'from'} rank {root}"
    return words
