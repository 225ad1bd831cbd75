"""Functions of one number at a time, and of two, in NumPy's dtypes."""
from dragon.core.capture.settings import is_capturing
from dragon.dialects.numpy.table import FLOATING, PRODUCT, TRUTHS, functions
from dragon.vm.guest import named
from dragon.vm.keras import ops as kops
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.bounds import greater_of, lesser_of
from dragon.vm.shared.tensors.dtypes import OBJECTS
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.numpy_like.promotion import inexact, to_tensor, together

BOOL = OBJECTS["bool"]


def _unary(name, told, run):
    def function(x):
        x = to_tensor(x)
        return run(ops.cast(x, inexact(x.dtype)) if FLOATING in told.kinds else x)
    return named(function, name, f"Return NumPy's `{name}` of a tensor.")


def _binary(name, told, run):
    change, takes_truths = inexact if FLOATING in told.kinds else None, TRUTHS in told.kinds
    is_product, plain = PRODUCT in told.kinds, getattr(ops, told.operator)

    def function(x1, x2):
        if takes_truths:
            return run(ops.cast(to_tensor(x1), BOOL), ops.cast(to_tensor(x2), BOOL))
        x1, x2 = together(x1, x2, change=change)
        if x1.dtype.is_bool and name in ("add", "multiply"):
            return ops.logical_or(x1, x2) if name == "add" else ops.logical_and(x1, x2)
        if x1.dtype.name == "uint64" and not is_product:  # which `keras.ops` makes uint32 of
            return plain(x1, x2)
        return run(x1, x2)
    return named(function, name, f"Return NumPy's `{name}` of two tensors in the dtype that they have in common.")


for _name, _told in functions().items():
    globals()[_name] = (_unary if _told.operands == 1 else _binary)(
        _name, _told, getattr(kops, "mod" if _name == "remainder" else _name))
    globals()[_name].__module__ = __name__


def power(x1, x2):
    """Return the powers of numbers; integers have no negative ones."""
    x1, x2 = together(x1, x2)
    if x1.dtype.is_integer and not is_capturing() and bool(ops.any(ops.lt(x2, 0))):
        raise invalid_argument("Integers to negative integer powers are not allowed [Op:Pow] name: ")
    return ops.pow(x1, x2)


def float_power(x1, x2):
    """Return the powers of numbers."""
    return power(x1, x2)


def divmod(x1, x2):
    """Return (the quotients rounded down, what is left)."""
    return globals()["floor_divide"](x1, x2), globals()["mod"](x1, x2)


def logical_not(x):
    """Return whether numbers are zero."""
    return ops.logical_not(ops.cast(to_tensor(x), BOOL))


def positive(x):
    """Return the numbers."""
    return to_tensor(x)


def sign(x, out=None, where=None, **kwargs):
    """Return -1, 0 or 1."""
    if out is not None or where is not None or kwargs:
        raise ValueError(f"tensorflow doesn't support argument out, where or others. Received: out={out}, "
                         f"where={where}, {kwargs}")
    return kops.sign(to_tensor(x))


def fix(x):
    """Return the numbers without what follows the point."""
    x = to_tensor(x)
    return ops.trunc(ops.cast(x, inexact(x.dtype)))


def around(a, decimals=0):
    """Return the numbers rounded to decimals; halves to even ones."""
    a = to_tensor(a)
    if a.dtype.is_integer and decimals >= 0:
        return a
    dtype, scale = a.dtype, 10.0 ** decimals
    wide = ops.cast(a, inexact(dtype))
    return ops.cast(ops.div(ops.round(ops.mul(wide, scale)), scale), dtype)


round = around


def angle(z, deg=False):
    """Return the angles of complex numbers, in radians or in degrees."""
    z = to_tensor(z)
    z = ops.cast(z, inexact(z.dtype))
    found = ops.atan2(kops.imag(z), kops.real(z))
    return ops.mul(found, 180.0 / 3.141592653589793) if deg else found


def iscomplex(x):
    """Return whether numbers have an imaginary part."""
    x = to_tensor(x)
    return ops.ne(kops.imag(x), 0) if x.dtype.is_complex else ops.zeros_like(ops.cast(x, BOOL))


def iscomplexobj(x):
    """Return whether a tensor's dtype is complex."""
    return to_tensor(x).dtype.is_complex


def isrealobj(x):
    """Return whether a tensor's dtype is not complex."""
    return not iscomplexobj(x)


def clip(a, a_min, a_max):
    """Return the numbers with those outside of bounds replaced by the bounds."""
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    bounds = [bound for bound in (a_min, a_max) if bound is not None]
    a, *bounds = together(a, *bounds)
    if a_min is not None:
        a = greater_of(a, bounds.pop(0))
    return a if a_max is None else lesser_of(a, bounds.pop(0))


def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Return whether numbers are nearly equal."""
    a, b = together(a, b, change=inexact)
    return kops.isclose(a, b, rtol, atol, equal_nan)


def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Return whether all numbers are nearly equal."""
    return ops.all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1, a2):
    """Return whether two tensors have one shape and equal numbers."""
    a1, a2 = together(a1, a2)
    if tuple(a1.shape) != tuple(a2.shape):
        return ops.full((), False, dtype=BOOL)
    return ops.all(ops.eq(a1, a2))


def polyval(p, x):
    """Return the values of a polynomial whose coefficients begin with that of the highest power."""
    p, x = together(p, x)
    found = ops.zeros_like(x)
    for coefficient in ops.unbind(p):
        found = ops.add(ops.mul(found, x), coefficient)
    return found


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Return the products of vectors that stand upright on both."""
    return kops.cross(*together(a, b), axisa, axisb, axisc, axis)


def tensordot(a, b, axes=2):
    """Return sums of products along axes of two tensors."""
    return kops.tensordot(*together(a, b), axes)


def einsum(subscripts, *operands, **kwargs):
    """Return sums of products by letters of axes.

    Parameters
    ----------
    subscripts : str
        Such as "ij,jk->ik".
    *operands : Tensor
        The tensors.
    **kwargs : Any
        `casting` must be "safe" and `optimize` is accepted.

    """
    casting, _ = kwargs.pop("casting", "safe"), kwargs.pop("optimize", False)
    if casting != "safe" or kwargs:
        raise ValueError(f"einsum: got casting={casting!r} and {kwargs}, expected casting='safe' alone")
    return kops.einsum(subscripts, *together(*operands))
