"""Pairs of items, each kind of which compares in its own way; suites of other libraries derive their own from them."""
import abc
import cmath
import sys

from dragon.vm import torch
from dragon.vm.torch.core.sparse.parts import COMPRESSED
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.testing._letters import ErrorMeta, make_scalar_mismatch_msg, make_tensor_mismatch_msg
from dragon.vm.torch.testing._tolerances import get_tolerances

WIDER = {"uint16": "int64", "uint32": "int64", "uint64": "int64"}  # dtypes that have no common one with the others


class UnsupportedInputs(Exception):
    """Raised where a pair is made of items that it does not compare: the next kind of pair is tried."""


class Pair(abc.ABC):
    """Two items, and how they compare. Every kind gets all options, takes its own and passes the others on.

    Parameters
    ----------
    actual, expected : Any
        The items.
    id : tuple, optional
        Indices and keys that lead to them.
    **unknown_parameters : Any
        Options of other kinds of pairs.

    """

    def __init__(self, actual, expected, *, id=(), **unknown_parameters):
        self.actual, self.expected, self.id = actual, expected, id
        self._unknown_parameters = unknown_parameters

    @staticmethod
    def _inputs_not_supported():
        raise UnsupportedInputs

    @staticmethod
    def _check_inputs_isinstance(*inputs, cls):
        if not all(isinstance(item, cls) for item in inputs):
            Pair._inputs_not_supported()

    def _fail(self, type, msg, *, id=()):
        raise ErrorMeta(type, msg, id=id or getattr(self, "id", ()))

    @abc.abstractmethod
    def compare(self):
        """Raise an `ErrorMeta` unless the items are close."""

    def extra_repr(self):
        """Return the names of the options, or (name, value) of each, that the pair's own text shows."""
        return []

    def __repr__(self):
        extra = [(item, getattr(self, item)) if isinstance(item, str) else item for item in self.extra_repr()]
        shown = [("id", self.id), ("actual", self.actual), ("expected", self.expected), *extra]
        return "\n".join([f"{type(self).__name__}(", *(f"    {name}={value!s}," for name, value in shown), ")"])


class ObjectPair(Pair):
    """Two items of any kind, which must be equal."""

    def compare(self):
        """Raise an `ErrorMeta` unless the items are equal."""
        try:
            equal = self.actual == self.expected
        except Exception as error:
            raise ErrorMeta(ValueError, f"{self.actual} == {self.expected} failed with:\n{error}.",
                            id=self.id) from error
        if not equal:
            self._fail(AssertionError, f"{self.actual} != {self.expected}")


class NonePair(Pair):
    """Two items of which one is None: the other must be too."""

    def __init__(self, actual, expected, **other_parameters):
        if actual is not None and expected is not None:
            self._inputs_not_supported()
        super().__init__(actual, expected, **other_parameters)

    def compare(self):
        """Raise an `ErrorMeta` unless both are None."""
        if self.actual is not self.expected:
            self._fail(AssertionError, f"None mismatch: {self.actual} is not {self.expected}")


class BooleanPair(Pair):
    """Two bools, of Python or of NumPy."""

    def __init__(self, actual, expected, *, id=(), **other_parameters):
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)

    @property
    def _supported_types(self):
        return (bool, *numpy_kinds("bool_"))

    def _process_inputs(self, actual, expected, *, id):
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return tuple(self._to_bool(item, id=id) for item in (actual, expected))

    def _to_bool(self, bool_like, *, id):
        if not isinstance(bool_like, (bool, *numpy_kinds("bool_"))):
            raise ErrorMeta(TypeError, f"Unknown boolean type {type(bool_like)}.", id=id)
        return bool(bool_like)

    def compare(self):
        """Raise an `ErrorMeta` unless the bools are the same."""
        if self.actual is not self.expected:
            self._fail(AssertionError, f"Booleans mismatch: {self.actual} is not {self.expected}")


class NumberPair(Pair):
    """Two numbers, of Python or of NumPy.

    Parameters
    ----------
    actual, expected : Union[int, float, complex, numpy.number]
        The numbers.
    id : tuple, optional
        Indices and keys that lead to them.
    rtol, atol : float, optional
        The tolerances; by type unless both are given.
    equal_nan : bool, optional, default=False
        Whether NaN equals NaN.
    check_dtype : bool, optional, default=False
        Whether the types must be equal too.
    **other_parameters : Any
        Options of other kinds of pairs.

    """

    _TYPE_TO_DTYPE = {int: torch.int64, float: torch.float64, complex: torch.complex128}
    _NUMBER_TYPES = tuple(_TYPE_TO_DTYPE)

    def __init__(self, actual, expected, *, id=(), rtol=None, atol=None, equal_nan=False, check_dtype=False,
                 **other_parameters):
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)
        dtypes = [next(dtype for kind, dtype in self._TYPE_TO_DTYPE.items() if isinstance(item, kind))
                  for item in (actual, expected)]
        self.rtol, self.atol = get_tolerances(*dtypes, rtol=rtol, atol=atol, id=id)
        self.equal_nan, self.check_dtype = equal_nan, check_dtype

    @property
    def _supported_types(self):
        return (*self._NUMBER_TYPES, *numpy_kinds("number"))

    def _process_inputs(self, actual, expected, *, id):
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return tuple(self._to_number(item, id=id) for item in (actual, expected))

    def _to_number(self, number_like, *, id):
        if isinstance(number_like, numpy_kinds("number")):
            return number_like.item()
        if not isinstance(number_like, self._NUMBER_TYPES):
            raise ErrorMeta(TypeError, f"Unknown number type {type(number_like)}.", id=id)
        return number_like

    def compare(self):
        """Raise an `ErrorMeta` unless the numbers are close."""
        actual, expected = self.actual, self.expected
        if self.check_dtype and type(actual) is not type(expected):
            self._fail(AssertionError, f"The (d)types do not match: {type(actual)} != {type(expected)}.")
        if actual == expected or (self.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
            return
        apart = abs(actual - expected)
        if cmath.isfinite(apart) and apart <= self.atol + self.rtol * abs(expected):
            return
        self._fail(AssertionError, make_scalar_mismatch_msg(actual, expected, rtol=self.rtol, atol=self.atol))

    def extra_repr(self):
        """Return the names of the options that the pair's own text shows."""
        return ("rtol", "atol", "equal_nan", "check_dtype")


class TensorLikePair(Pair):
    """Two tensors, or what becomes tensors.

    Parameters
    ----------
    actual, expected : Any
        The tensors, of which one is of the other's class.
    id : tuple, optional
        Indices and keys that lead to them.
    allow_subclasses : bool, optional, default=True
        Whether classes may differ.
    rtol, atol : float, optional
        The tolerances; by dtype unless both are given.
    equal_nan : bool, optional, default=False
        Whether NaN equals NaN.
    check_device, check_dtype, check_layout : bool, optional, default=True
        Whether these must be equal too.
    check_stride : bool, optional, default=False
        Whether strides must be equal too.
    **other_parameters : Any
        Options of other kinds of pairs.

    """

    def __init__(self, actual, expected, *, id=(), allow_subclasses=True, rtol=None, atol=None, equal_nan=False,
                 check_device=True, check_dtype=True, check_layout=True, check_stride=False, **other_parameters):
        actual, expected = self._process_inputs(actual, expected, id=id, allow_subclasses=allow_subclasses)
        super().__init__(actual, expected, id=id, **other_parameters)
        self.rtol, self.atol = get_tolerances(actual, expected, rtol=rtol, atol=atol, id=self.id)
        self.equal_nan, self.check_device, self.check_dtype = equal_nan, check_device, check_dtype
        self.check_layout, self.check_stride = check_layout, check_stride

    def _process_inputs(self, actual, expected, *, id, allow_subclasses):
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        if not related or not (allow_subclasses or type(actual) is type(expected)):
            self._inputs_not_supported()
        return tuple(self._to_tensor(item) for item in (actual, expected))

    def _to_tensor(self, tensor_like):
        if isinstance(tensor_like, Tensor):
            return tensor_like
        try:
            return torch.as_tensor(tensor_like)
        except Exception:
            self._inputs_not_supported()

    def compare(self):
        """Raise an `ErrorMeta` unless the tensors are alike, and their numbers close."""
        self._compare_attributes(self.actual, self.expected)
        if "meta" not in (self.actual.device.type, self.expected.device.type):
            self._compare_values(*self._equalize_attributes(self.actual, self.expected))

    def _compare_attributes(self, actual, expected):
        strided = actual.layout == expected.layout == torch.strided
        checks = [("shape", True, actual.shape, expected.shape),
                  ("layout", self.check_layout, actual.layout, expected.layout),
                  ("stride()", self.check_stride and strided, *(item.stride() if strided else None
                                                                for item in (actual, expected))),
                  ("device", self.check_device, actual.device, expected.device),
                  ("dtype", self.check_dtype, actual.dtype, expected.dtype)]
        for name, wanted, mine, other in checks:
            if wanted and mine != other:
                self._fail(AssertionError, f"The values for attribute '{name}' do not match: {mine} != {other}.")

    def _equalize_attributes(self, actual, expected):
        actual, expected = actual.detach(), expected.detach()
        if actual.device != expected.device:
            actual, expected = actual.cpu(), expected.cpu()
        if actual.dtype != expected.dtype:
            common = torch.promote_types(*(getattr(torch, WIDER.get(item.dtype.name, item.dtype.name))
                                           for item in (actual, expected)))
            actual, expected = actual.to(common), expected.to(common)
        if actual.layout != expected.layout:
            actual, expected = (item if item.layout == torch.strided else item.to_dense()
                                for item in (actual, expected))
        return actual, expected

    def _compare_values(self, actual, expected):
        if actual.is_sparse or actual.layout in SPARSE:
            return self._compare_sparse_values(actual, expected)
        if actual.layout == torch.jagged:
            actual, expected = actual.values(), expected.values()
        elif actual.dtype.is_floating_point and actual.dtype.itemsize == 1 and (self.rtol, self.atol) != (0, 0):
            self._fail(AssertionError, f"Rtol={self.rtol} and atol={self.atol} are not supported for bitwise "
                       "comparison of low dimensional floats. Please use rtol=0.0 and atol=0.0.")
        self._compare_regular_values_close(actual, expected, rtol=self.rtol, atol=self.atol, equal_nan=self.equal_nan)

    def _compare_sparse_values(self, actual, expected):
        kind = str(actual.layout).removeprefix("torch.sparse_").upper()
        if actual.is_sparse:
            if actual.sparse_dim() != expected.sparse_dim():
                self._fail(AssertionError, "The number of sparse dimensions in sparse COO tensors does not match: "
                           f"{actual.sparse_dim()} != {expected.sparse_dim()}")
            kind = "COO"
        if actual._nnz() != expected._nnz():
            self._fail(AssertionError, f"The number of specified values in sparse {kind} tensors does not match: "
                       f"{actual._nnz()} != {expected._nnz()}")
        for name, (mine, other) in named_parts(actual, expected):
            if name == "values":
                self._compare_regular_values_close(mine, other, rtol=self.rtol, atol=self.atol,
                                                   equal_nan=self.equal_nan, identifier=f"Sparse {kind} values")
            else:
                self._compare_regular_values_equal(mine.long(), other.long(), identifier=f"Sparse {kind} {name}")

    def _compare_regular_values_equal(self, actual, expected, *, equal_nan=False, identifier=None):
        self._compare_regular_values_close(actual, expected, rtol=0, atol=0, equal_nan=equal_nan,
                                           identifier=identifier)

    def _compare_regular_values_close(self, actual, expected, *, rtol, atol, equal_nan, identifier=None):
        matches = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
        if torch.all(matches):
            return
        options = dict(rtol=rtol, atol=atol, identifier=identifier)
        self._fail(AssertionError, make_tensor_mismatch_msg(actual, expected, matches, **options) if actual.ndim
                   else make_scalar_mismatch_msg(actual.item(), expected.item(), **options))

    def extra_repr(self):
        """Return the names of the options that the pair's own text shows."""
        return ("rtol", "atol", "equal_nan", "check_device", "check_dtype", "check_layout", "check_stride")


SPARSE = {getattr(torch, name) for name in COMPRESSED}


def named_parts(*tensors):
    """Yield (name, [part of each]) of tensors of one sparse layout, the values last."""
    if tensors[0].is_sparse:
        yield "indices", [x._indices() for x in tensors]
        yield "values", [x._values() for x in tensors]
    else:
        for name in (*COMPRESSED[str(tensors[0].layout).removeprefix("torch.")], "values"):
            yield name, [getattr(x, name)() for x in tensors]


def numpy_kinds(name):
    """Return the class of NumPy's of a name in a tuple, an empty one where NumPy is not loaded."""
    numpy = sys.modules.get("numpy")
    return () if numpy is None else (getattr(numpy, name),)
