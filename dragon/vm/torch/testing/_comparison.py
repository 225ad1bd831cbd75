"""Whether two results are close, and a letter about where they are not."""
import cmath
import math
from collections.abc import Mapping, Sequence

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch.core.sparse.parts import COMPRESSED
from dragon.vm.torch.core.tensor import Tensor

# The relative and the absolute tolerance of a dtype; others must be equal.
PRECISIONS = {"float16": (0.001, 1e-5), "bfloat16": (0.016, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
              "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}
OLD_PRECISIONS = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}
DTYPE_OF = {int: "int64", float: "float64", complex: "complex128"}


class Mismatch(Exception):
    """A difference of two items, before it is raised in its own class.

    Parameters
    ----------
    kind : type
        The class to raise.
    text : str
        The letter.
    path : tuple
        Indices and keys that lead to the items.

    """

    def __init__(self, kind, text, path):
        super().__init__(text)
        self.kind, self.text, self.path = kind, text, path

    def as_error(self, wanted=None):
        """Return the exception to raise, with a text of the user's, or one made of this."""
        if isinstance(wanted, str):
            return self.kind(wanted)
        text = self.text
        if self.path:
            text += "\n\nThe failure occurred for item " + "".join(f"[{item!r}]" for item in self.path)
        return self.kind(wanted(text) if callable(wanted) else text)


def default_tolerances(*inputs, dtype_precisions=None):
    """Return (rtol, atol), the loosest of those of tensors or dtypes."""
    if dtype_precisions is not None:
        dtype_precisions = {dtype.name: both for dtype, both in dtype_precisions.items()}
    names = []
    for given in inputs:
        if not isinstance(given, (Tensor, torch.dtype)):
            raise TypeError(f"Expected a torch.Tensor or a torch.dtype, but got {type(given)} instead.")
        names.append((given.dtype if isinstance(given, Tensor) else given).name)
    return loosest(names, dtype_precisions or PRECISIONS)


def loosest(names, precisions=PRECISIONS):
    """Return (rtol, atol), the loosest of those of some dtypes' names."""
    rtols, atols = zip(*(precisions.get(name, (0.0, 0.0)) for name in names))
    return max(rtols), max(atols)


class Comparison:
    """Two nested results under one set of options."""

    number_types_matter = True

    def __init__(self, allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride):
        self.allow_subclasses, self.rtol, self.atol, self.equal_nan = allow_subclasses, rtol, atol, equal_nan
        self.check_device, self.check_dtype, self.check_stride = check_device, check_dtype, check_stride
        self.check_layout = check_layout

    def pair_up(self, actual, expected, path=()):
        """Yield functions that compare one pair of items each; structures that differ raise at once."""
        if all(isinstance(item, Sequence) and not isinstance(item, str) for item in (actual, expected)):
            if len(actual) != len(expected):
                raise Mismatch(AssertionError, "The length of the sequences mismatch: "
                               f"{len(actual)} != {len(expected)}", path)
            for place in range(len(actual)):
                yield from self.pair_up(actual[place], expected[place], (*path, place))
        elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
            for key in common_keys(actual, expected, path):
                yield from self.pair_up(actual[key], expected[key], (*path, key))
        else:
            yield self.choose(actual, expected, path)

    def choose(self, actual, expected, path):
        """Return the function that compares two items of these kinds."""
        if actual is None or expected is None:
            return lambda: self.compare_same("None mismatch", actual, expected, path)
        if is_kind(actual, bool, "bool_") and is_kind(expected, bool, "bool_"):
            return lambda: self.compare_same("Booleans mismatch", bool(actual), bool(expected), path)
        numbers = (int, float, complex)
        if is_kind(actual, numbers, "number") and is_kind(expected, numbers, "number"):
            return self.choose_numbers(plain_number(actual), plain_number(expected), path)
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        if related and (self.allow_subclasses or type(actual) is type(expected)):
            tensors = [as_tensor_or_none(item) for item in (actual, expected)]
            if all(tensor is not None for tensor in tensors):
                tolerances = self.tolerances([tensor.dtype.name for tensor in tensors], path)
                return lambda: self.compare_tensors(*tensors, *tolerances, path)
        raise Mismatch(TypeError, "No comparison pair was able to handle inputs of type "
                       f"{type(actual)} and {type(expected)}.", path)

    def tolerances(self, names, path):
        """Return (rtol, atol), the options' or those of the dtypes."""
        if (self.rtol is None) != (self.atol is None):
            lacking = "rtol" if self.rtol is None else "atol"
            raise Mismatch(ValueError, "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
                           f"{lacking}.", path)
        return loosest(names) if self.rtol is None else (self.rtol, self.atol)

    @staticmethod
    def compare_same(what, actual, expected, path):
        """Compare values that are one object each."""
        if actual is not expected:
            raise Mismatch(AssertionError, f"{what}: {actual} is not {expected}", path)

    def choose_numbers(self, actual, expected, path):
        """Return the function that compares two Python numbers."""
        rtol, atol = self.tolerances([DTYPE_OF[base_of(item)] for item in (actual, expected)], path)
        return lambda: self.compare_numbers(actual, expected, rtol, atol, path)

    def compare_numbers(self, actual, expected, rtol, atol, path):
        """Compare two Python numbers."""
        if self.check_dtype and self.number_types_matter and type(actual) is not type(expected):
            raise Mismatch(AssertionError, f"The (d)types do not match: {type(actual)} != {type(expected)}.", path)
        if actual == expected or (self.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
            return
        apart = abs(actual - expected)
        if cmath.isfinite(apart) and apart <= atol + rtol * abs(expected):
            return
        relative = math.inf if expected == 0 else apart / abs(expected)
        raise Mismatch(AssertionError, describe("Scalars", f"Expected {expected} but got {actual}.",
                                                (apart, None), (relative, None), rtol, atol), path)

    def compare_tensors(self, actual, expected, rtol, atol, path):
        """Compare two tensors: first what they are, then their numbers."""
        strided = actual.layout == expected.layout == torch.strided
        checks = [("shape", True, actual.shape, expected.shape),
                  ("layout", self.check_layout, actual.layout, expected.layout),
                  ("stride()", self.check_stride and strided, *(item.stride() if strided else None
                                                                for item in (actual, expected))),
                  ("device", self.check_device, actual.device, expected.device),
                  ("dtype", self.check_dtype, actual.dtype, expected.dtype)]
        for name, wanted, mine, other in checks:
            if wanted and mine != other:
                raise Mismatch(AssertionError, f"The values for attribute '{name}' do not match: {mine} != {other}.",
                               path)
        if "meta" in (actual.device.type, expected.device.type):
            return
        actual, expected = actual.detach().cpu(), expected.detach().cpu()
        if actual.dtype != expected.dtype:
            common = torch.promote_types(actual.dtype, expected.dtype)
            actual, expected = actual.to(common), expected.to(common)
        if not strided:
            if actual.layout == expected.layout:
                return self.compare_sparse(actual, expected, rtol, atol, path)
            actual, expected = actual.to_dense(), expected.to_dense()
        self.compare_strided("Tensor-likes", actual, expected, rtol, atol, path)

    def compare_sparse(self, actual, expected, rtol, atol, path):
        """Compare the indices and the values of two tensors of one sparse layout."""
        if actual.is_sparse:
            actual, expected = actual.coalesce(), expected.coalesce()
        if actual._nnz() != expected._nnz():
            raise Mismatch(AssertionError, "The number of specified values in sparse tensors does not match: "
                           f"{actual._nnz()} != {expected._nnz()}", path)
        kind = str(actual.layout).removeprefix("torch.sparse_").upper()
        for (name, mine), (_, other) in zip(named_parts(actual), named_parts(expected)):
            exact = name != "values"
            self.compare_strided(f"Sparse {kind} {name}", mine, other, 0 if exact else rtol, 0 if exact else atol, path)

    def compare_strided(self, what, actual, expected, rtol, atol, path):
        """Compare the numbers of two strided tensors."""
        matches = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=self.equal_nan)
        if not bool(torch.all(matches)):
            raise Mismatch(AssertionError, describe_tensors(what, actual, expected, matches, rtol, atol), path)


def named_parts(x):
    """Return [(name, part)] of a sparse tensor, the values last."""
    names = (*COMPRESSED.get(str(x.layout).removeprefix("torch."), ("indices",)), "values")
    return [(name, getattr(x, name)()) for name in names]


def common_keys(actual, expected, path):
    """Return the keys of two mappings, in order if they have one; raise if they differ."""
    mine, theirs = set(actual), set(expected)
    if mine != theirs:
        raise Mismatch(AssertionError, "The keys of the mappings do not match:\n"
                       f"Missing keys in the actual mapping: {sorted(theirs - mine)}\n"
                       f"Additional keys in the actual mapping: {sorted(mine - theirs)}", path)
    try:
        return sorted(mine)
    except TypeError:
        return list(mine)


def is_kind(item, kinds, numpy_kind):
    """Return whether an item is of some Python kinds or of NumPy's."""
    if isinstance(item, kinds):
        return True
    if type(item).__module__ != "numpy":
        return False
    import numpy
    return isinstance(item, getattr(numpy, numpy_kind))


def plain_number(item):
    """Return a number as Python's."""
    return item.item() if type(item).__module__ == "numpy" else item


def base_of(number):
    """Return int, float or complex, whichever a number is."""
    return next(kind for kind in (int, float, complex) if isinstance(number, kind))


def as_tensor_or_none(item):
    """Return an item as a tensor, None where that cannot be."""
    if isinstance(item, Tensor):
        return item
    try:
        return torch.as_tensor(item)
    except Exception:
        return None


def describe(what, extra, absolute, relative, rtol, atol):
    """Return the letter about numbers: how far apart, where, and how far they may be."""
    equality = rtol == 0 and atol == 0
    lines = [f"{what} are not {'equal' if equality else 'close'}!", "", extra]
    for name, (difference, place), tolerance in (("absolute", absolute, atol), ("relative", relative, rtol)):
        line = (f"{name.title()} difference: {difference}" if place is None
                else f"Greatest {name} difference: {difference} at index {place}")
        lines.append(line if equality else f"{line} (up to {tolerance} allowed)")
    return "\n".join(lines)


def describe_tensors(what, actual, expected, matches, rtol, atol):
    """Return the letter about tensors that are not close."""
    count = matches.numel()
    wrong = count - int(torch.sum(matches))
    actual, expected, flat = actual.flatten(), expected.flatten(), matches.flatten()
    if not actual.dtype.is_floating_point and not actual.dtype.is_complex:
        actual, expected = actual.to(torch.int64), expected.to(torch.int64)
    apart = torch.abs(actual - expected)
    apart[flat] = 0
    relative = apart / torch.abs(expected)
    relative[flat] = 0
    found = []
    for differences in (apart, relative):
        largest, place = torch.max(differences, 0)
        found.append((largest.item(), unravel(int(place), matches.shape)))
    return describe(what, f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})", *found, rtol, atol)


def unravel(flat, shape):
    """Return the index of an element by its place in row-major order."""
    index = []
    for size in reversed(shape):
        flat, place = divmod(flat, size)
        index.append(place)
    return tuple(reversed(index))


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, msg=None):
    """Raise unless two results are close: `|actual - expected| <= atol + rtol * |expected|` everywhere.

    Parameters
    ----------
    actual : Any
        Numbers, tensors, what can become tensors, and sequences and mappings of them.
    expected : Any
        Likewise.
    allow_subclasses : bool, optional, default=True
        Whether classes may differ if one is a subclass of the other.
    rtol : float, optional
        The relative tolerance; by dtype unless both are given.
    atol : float, optional
        The absolute tolerance; by dtype unless both are given.
    equal_nan : bool, optional, default=False
        Whether NaN equals NaN.
    check_device, check_dtype, check_layout, check_stride : bool, optional
        Whether these must be equal too.
    msg : Union[str, Callable], optional
        The error's text, or what makes it of the generated one.

    """
    __tracebackhide__ = True
    comparison = Comparison(allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout,
                            check_stride)
    try:
        # All pairs are made before the first is compared: a wrong structure is told before wrong numbers.
        pairs = list(comparison.pair_up(actual, expected))
    except Mismatch as mismatch:
        error = mismatch.as_error()
        raise error from None
    for compare in pairs:
        try:
            compare()
        except Mismatch as mismatch:
            error = mismatch.as_error(msg)
            raise error from None


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """Raise unless two tensors are close; deprecated for `assert_close`."""
    warnings.warn("`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
                  "Please use `torch.testing.assert_close()` instead.", FutureWarning)
    if not isinstance(actual, Tensor):
        actual = torch.tensor(actual)
    if not isinstance(expected, Tensor):
        expected = torch.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = loosest([actual.dtype.name, expected.dtype.name], OLD_PRECISIONS)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)
