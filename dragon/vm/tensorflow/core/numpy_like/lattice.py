"""The modes "all" and "safe": each pair of dtypes has one answer, and numbers without a dtype of their own give way."""
from dragon import _C
from dragon.vm.shared.tensors.dtypes import OBJECTS, DType, as_dtype

# From each dtype the next wider ones; of two dtypes the answer is the first that both lead to. `*` marks dtypes that
# give way: those of Python's numbers.
WIDER = {"bool": ["int32*"], "int32*": ["uint8", "int8", "float32*"], "uint8": ["int16", "uint16"], "int8": ["int16"],
         "uint16": ["int32", "uint32"], "int16": ["int32"], "uint32": ["int64", "uint64"], "int32": ["int64"],
         "uint64": ["float64*"], "int64": ["float64*"], "float32*": ["float64*"],
         "float64*": ["bfloat16", "float16", "complex128*"],
         "bfloat16": ["float32"], "float16": ["float32"], "float32": ["float64", "complex64"],
         "float64": ["complex128"], "complex128*": ["complex64"], "complex64": ["complex128"], "complex128": []}
WEAK = {"int32", "int64", "float32", "float64", "complex128"}
ORDER = list(WIDER)
BITS = {"bool": 1, "uint8": 8, "int8": 7, "uint16": 16, "int16": 15, "uint32": 32, "int32": 31, "uint64": 64,
        "int64": 63, "bfloat16": 8, "float16": 11, "float32": 24, "float64": 53, "complex64": 24, "complex128": 53}


def _above(name, seen):
    if name not in seen:
        seen.add(name)
        for other in WIDER[name]:
            _above(other, seen)
    return seen


def _join(one, other):
    """Return the first dtype that two lead to."""
    both = _above(one, set()) & _above(other, set())
    return min(both, key=lambda name: (len(WIDER) - len(_above(name, set())), ORDER.index(name)))


def _name(value):
    """Return a dtype's name, marked if it gives way."""
    if type(value) in (bool, int, float, complex):
        return {bool: "bool", int: "int32*", float: "float32*", complex: "complex128*"}[type(value)]
    is_weak = isinstance(value, _C.Tensor) and getattr(value, "_weak", False)
    name = as_dtype(value.dtype if isinstance(value, _C.Tensor) or hasattr(value, "dtype") and not isinstance(
        value, DType) else value).name
    if not is_weak:
        return name
    return {"int64": "int32*", "float64": "float32*"}.get(name, f"{name}*" if name in WEAK else name)


def common(values, is_safe):
    """Return (the dtype that values have in common, whether it gives way).

    Parameters
    ----------
    values : Sequence[Any]
        Tensors, Python's numbers and dtypes.
    is_safe : bool
        Whether a dtype that loses bits is a TypeError.

    """
    names = [_name(value) for value in values]
    found = names[0]
    for name in names[1:]:
        before, found = found, _join(found, name)
        if is_safe and found.rstrip("*") != "bool":
            _check_safe(before, name, found)
    return OBJECTS[found.rstrip("*")], found.endswith("*")


def _check_safe(one, other, found):
    """Raise unless a dtype is one of the two, and no bit of the other is lost on the way to it."""
    is_third = found.rstrip("*") not in (one.rstrip("*"), other.rstrip("*"))
    for side in (one, other):
        is_free = side.endswith("*") and not _widens(side, found)
        if is_third or side != found and not is_free and BITS[side.rstrip("*")] > BITS[found.rstrip("*")]:
            first, second = (f"(<dtype: '{name.rstrip('*')}'>, weak={name.endswith('*')})" for name in (one, other))
            raise TypeError(f"In promotion mode PromoMode.SAFE, implicit dtype promotion between {first} and {second} "
                            "is disallowed. You need to explicitly specify the dtype in your op, or relax your dtype "
                            "promotion rules (such as from SAFE mode to ALL mode).")


def _widens(side, found):
    """Return whether numbers that give way would become of a kind which holds more than they are."""
    order = ("bool", "int", "float", "complex")
    kinds = ["int" if "int" in name else "float" if "float" in name else name.rstrip("*0123456789") for name in
             (side, found)]
    return order.index(kinds[0]) > order.index(kinds[1])
