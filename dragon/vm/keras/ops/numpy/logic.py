"""Questions about numbers, and arithmetic on their bits."""
from dragon.vm.keras.ops.common import (cast_to, dtype_of, is_ready, join_tensors, named, operation, ops, publish,
                                        result_type, tensor)
from dragon.vm.shared.tensors.operators import RUNS


def _comparison(name, sentence, compute):
    def function(x1, x2):
        # As in Keras, even a plain number brings its own dtype along: nothing is compared that has wrapped.
        return compute(x1, x2) if is_ready(x1, x2) else compute(*join_tensors(x1, x2))
    return publish(function, name, sentence)


def _question(name, sentence, compute, otherwise):
    """Return a function that asks floating numbers, and knows the answer for all others."""
    def function(x):
        x = tensor(x)
        if "float" in dtype_of(x) or "complex" in dtype_of(x):
            return compute(x)
        return ops.full_like(x, otherwise, dtype="bool")
    return publish(function, name, sentence)


def _truths(name, sentence, compute):
    def function(x1, x2):
        return compute(cast_to(tensor(x1), "bool"), cast_to(tensor(x2), "bool"))
    return publish(function, name, sentence)


def _bits(name, sentence, compute):
    def function(x, y):
        return compute(*join_tensors(x, y))
    return publish(function, name, sentence)


def _shift(name, sentence, operator):
    def function(x, y):
        x = tensor(x)
        return RUNS[operator](*join_tensors(x, cast_to(tensor(y), dtype_of(x)) if isinstance(y, int) else y))
    return publish(function, name, sentence)


equal = _comparison("equal", "Return where two operands are equal.", ops.eq)
not_equal = _comparison("not_equal", "Return where two operands differ.", ops.ne)
greater = _comparison("greater", "Return where the first operand is larger.", ops.gt)
greater_equal = _comparison("greater_equal", "Return where the first operand is not smaller.", ops.ge)
less = _comparison("less", "Return where the first operand is smaller.", ops.lt)
less_equal = _comparison("less_equal", "Return where the first operand is not larger.", ops.le)
isfinite = _question("isfinite", "Return which elements are neither infinite nor NaN.", ops.isfinite, True)
isinf = _question("isinf", "Return which elements are infinite.", ops.isinf, False)
isnan = _question("isnan", "Return which elements are NaN.", ops.isnan, False)
isneginf = _question("isneginf", "Return which elements are negative infinity.", ops.isneginf, False)
isposinf = _question("isposinf", "Return which elements are positive infinity.", ops.isposinf, False)
isreal = _question("isreal", "Return which elements have no imaginary part.", ops.isreal, True)
logical_and = _truths("logical_and", "Return where both operands hold.", ops.logical_and)
logical_or = _truths("logical_or", "Return where one of two operands holds.", ops.logical_or)
logical_xor = _truths("logical_xor", "Return where exactly one of two operands holds.", ops.logical_xor)
logical_not = publish(lambda x: ops.logical_not(cast_to(tensor(x), "bool")), "logical_not",
                      "Return which elements do not hold.")
bitwise_and = _bits("bitwise_and", "Return the bits that both operands have.", ops.bitwise_and)
bitwise_or = _bits("bitwise_or", "Return the bits that one of the operands has.", ops.bitwise_or)
bitwise_xor = _bits("bitwise_xor", "Return the bits in which the operands differ.", ops.bitwise_xor)
bitwise_left_shift = _shift("bitwise_left_shift", "Shift bits to the left.", "bitwise_left_shift")
bitwise_right_shift = _shift("bitwise_right_shift", "Shift bits to the right.", "bitwise_right_shift")
left_shift = _shift("left_shift", "Shift bits to the left.", "bitwise_left_shift")
right_shift = _shift("right_shift", "Shift bits to the right.", "bitwise_right_shift")
bitwise_invert = publish(lambda x: ops.bitwise_not(tensor(x)), "bitwise_invert", "Turn over all bits.")
bitwise_not = publish(lambda x: ops.bitwise_not(tensor(x)), "bitwise_not", "Turn over all bits.")


@operation
def signbit(x):
    """Return which elements carry a minus, negative zero among them."""
    x = tensor(x)
    if dtype_of(x) == "bool":
        return ops.zeros_like(x)
    return ops.signbit(x) if "float" in dtype_of(x) else ops.lt(x, 0)


@operation
def isclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Return where |x1 - x2| <= atol + rtol |x2|.

    Parameters
    ----------
    x1, x2 : Tensor
        The operands; the shapes are broadcast.
    rtol, atol : float, optional
        Relative and absolute tolerance.
    equal_nan : bool, optional, default=False
        Whether NaN is close to NaN.

    Returns
    -------
    Tensor
        Truths.

    """
    x1, x2 = join_tensors(x1, x2)
    return ops.isclose(x1, x2, rtol, atol, equal_nan) if "float" in dtype_of(x1) else ops.eq(x1, x2)


@operation
def allclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Return whether all elements are close to each other, see `isclose`."""
    x1, x2 = join_tensors(x1, x2)
    if "float" not in dtype_of(x1):
        return ops.all(ops.eq(x1, x2))
    return ops.all(ops.isclose(x1, x2, rtol, atol, equal_nan))


@operation
def isin(x1, x2, assume_unique=False, invert=False):
    """Return which elements of x1 are among those of x2.

    Parameters
    ----------
    x1, x2 : Tensor
        The numbers asked about, and the set.
    assume_unique : bool, optional, default=False
        That x2 has no element twice; nothing depends on it here.
    invert : bool, optional, default=False
        Ask which are not.

    Returns
    -------
    Tensor
        Truths in the shape of x1.

    """
    x1, x2 = join_tensors(x1, x2)
    found = ops.any(ops.eq(ops.unsqueeze(x1, -1), ops.reshape(x2, (-1,))), -1)
    return ops.logical_not(found) if invert else found


def _whole(name, x1, x2):
    x1, x2 = tensor(x1), tensor(x2)
    for x in (x1, x2):
        if "int" not in dtype_of(x):
            raise TypeError(f"Arguments to {name} must be integers. "
                            f"Received: x1.dtype={dtype_of(x1)}, x2.dtype={dtype_of(x2)}")
    dtype = result_type(dtype_of(x1), dtype_of(x2))
    return cast_to(x1, dtype), cast_to(x2, dtype)


gcd = named(lambda x1, x2: ops.gcd(*_whole("gcd", x1, x2)), "gcd", "Return the greatest common divisor of integers.")
lcm = named(lambda x1, x2: ops.lcm(*_whole("lcm", x1, x2)), "lcm", "Return the least common multiple of integers.")
