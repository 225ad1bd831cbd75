"""Pairs as `TestCase.assertEqual` takes them: a number may be a tensor of one element, and anything may be compared."""
import enum
import sys
import unittest
from collections.abc import Mapping, Sequence

from dragon.vm import torch
from dragon.vm.torch.storage import TypedStorage
from dragon.vm.torch.testing._letters import ErrorMeta
from dragon.vm.torch.testing._pairs import BooleanPair, NonePair, NumberPair, Pair, TensorLikePair, numpy_kinds

NUMBERS = (int, float, complex)
KINDS = {str: "String", bytes: "String", set: "Set", type: "Type", object: "Object"}  # the first one fits


def is_array(value):
    """Return whether a value is a tensor or an array of NumPy's."""
    if isinstance(value, torch.Tensor):
        return True
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def may_be_number(item):
    """Return whether an item is a number, of an enumeration say, or an array."""
    return isinstance(item, (*NUMBERS, enum.Enum, *numpy_kinds("number"), *numpy_kinds("bool_"))) or is_array(item)


def one_number(item, what, id):
    """Return an item as a Python number."""
    if is_array(item):
        count = item.numel() if isinstance(item, torch.Tensor) else item.size
        if count > 1:
            raise ErrorMeta(ValueError, f"Only single element tensor-likes can be compared against a {what}. Got "
                            f"{count} elements instead.", id=id)
        item = item.item()
        return int(item) if isinstance(item, bool) else item
    if isinstance(item, enum.Enum):
        return int(item.value)
    return item.item() if isinstance(item, numpy_kinds("number")) else item


class RelaxedBooleanPair(BooleanPair):
    """A bool, and a number or a tensor of one element."""

    def _process_inputs(self, actual, expected, *, id):
        both = (actual, expected)
        if not any(isinstance(item, self._supported_types) for item in both) or not all(map(may_be_number, both)):
            self._inputs_not_supported()
        return tuple(bool(one_number(item, "boolean", id)) for item in both)


class RelaxedNumberPair(NumberPair):
    """A number, and another one or a tensor of one element; `least` is (rtol, atol), which others do not go below."""

    _TYPE_TO_DTYPE = {int: torch.int64, float: torch.float32, complex: torch.complex64}

    def __init__(self, actual, expected, *, least=(0.0, 0.0), check_dtype=False, **other_parameters):
        super().__init__(actual, expected, check_dtype=False, **other_parameters)
        self.rtol, self.atol = map(max, (self.rtol, self.atol), least)

    def _process_inputs(self, actual, expected, *, id):
        both = (actual, expected)
        if not any(isinstance(item, self._supported_types) for item in both) or not all(map(may_be_number, both)):
            self._inputs_not_supported()
        return tuple(one_number(item, "number", id) for item in both)


class TensorOrArrayPair(TensorLikePair):
    """Two tensors or arrays, in any mixture; `least` is (rtol, atol), which others do not go below."""

    def __init__(self, actual, expected, *, least=(0.0, 0.0), **other_parameters):
        super().__init__(actual, expected, **other_parameters)
        self.rtol, self.atol = map(max, (self.rtol, self.atol), least)

    def _process_inputs(self, actual, expected, *, id, allow_subclasses):
        if not is_array(actual) or not is_array(expected):
            self._inputs_not_supported()
        return tuple(torch.as_tensor(item) for item in (actual, expected))


class TypedStoragePair(TensorOrArrayPair):
    """Two storages, whose elements must be close."""

    def _process_inputs(self, actual, expected, *, id, allow_subclasses):
        self._check_inputs_isinstance(actual, expected, cls=TypedStorage)
        return tuple(item._elements() for item in (actual, expected))


class UnittestPair(Pair):
    """Two items that are no number and no tensor, which compare as in unittest."""

    def compare(self):
        """Raise an `ErrorMeta` unless the items are equal."""
        try:
            unittest.TestCase().assertEqual(self.actual, self.expected)
        except AssertionError as error:
            what = next(word for kind, word in KINDS.items() if isinstance(self.actual, kind))
            self._fail(AssertionError, f"{what} comparison failed: {error}")


PAIRS = (NonePair, RelaxedBooleanPair, RelaxedNumberPair, TensorOrArrayPair, TypedStoragePair, UnittestPair)


def containers():
    """Return what counts as a sequence and as a mapping."""
    nn = torch.nn
    return {"sequence_types": (Sequence, nn.Sequential, nn.ModuleList, nn.ParameterList, torch.utils.data.Subset),
            "mapping_types": (Mapping, nn.ModuleDict, nn.ParameterDict)}
