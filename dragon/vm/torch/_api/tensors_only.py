"""What PyTorch refuses, and the engine's operators would take: numbers for tensors, bools for integers.

The first argument of every function is a tensor, but for the rules below; what they ask is asked in Python, where one
of two arguments is a number.
"""
import functools

from dragon import _C

NUMBERS = frozenset((bool, int, float, complex))
# Operators by which of the first two arguments have to be tensors.
BOTH, ONE, NONE = "both", "one", "none"
ASKED = {BOTH: 3, ONE: 4}  # as the engine is told where numbers are to be looked at
RULES = {name: rule for rule, names in (
    (BOTH, "atan2 fmax fmin gcd heaviside hypot igamma igammac isclose lcm ldexp logaddexp logaddexp2 logical_and "
           "logical_or logical_xor maximum minimum nextafter"),
    (ONE, "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor pow remainder xlog1py xlogy zeta"),
    (NONE, "bucketize divide floor_divide isin mul"),
) for name in names.split()}


def refuse_numbers(who, rule, names, values):
    """Raise a TypeError where a number stands for a tensor.

    Parameters
    ----------
    who : str
        The function.
    rule : {"both", "one"}
        Which of the first two arguments have to be tensors.
    names : Sequence[str]
        What the two are called.
    values : Sequence[Any]
        What came.

    """
    wrong = [value.__class__ in NUMBERS for value in values]
    if rule == BOTH and any(wrong):
        place = wrong.index(True)
        raise _C.InvalidType(f"{who}: got '{type(values[place]).__name__}' for argument '{names[place]}', expected "
                             "Tensor")
    if rule == ONE and wrong == [True, True]:
        kinds = ", ".join("Tensor" if isinstance(value, _C.Tensor) else type(value).__name__ for value in values)
        raise _C.InvalidType(f"{who}() received an invalid combination of arguments - got ({kinds}), but expected a "
                             "Tensor among them")


@functools.cache
def guarded(name, operator, ops):
    """Return an operator that refuses what PyTorch does.

    Parameters
    ----------
    name : str
        The engine's name, with an underscore behind it for one that writes into its first argument.
    operator : _C.Op
        The operator.
    ops : _C.Ops
        Whose it is.

    """
    rule = RULES.get(name)
    if rule is None:
        return ops.strict(name)
    if rule == NONE:
        return operator

    def check(args, kwargs):
        words = operator.__text_signature__.strip("()").split(", ")[:2]
        names = [word.partition("=")[0] for word in words]
        refuse_numbers(name, rule, names, [*args[:2], *(kwargs[word] for word in names[len(args):] if word in kwargs)])

    return ops.tensors_only(name, ASKED[rule], check)
