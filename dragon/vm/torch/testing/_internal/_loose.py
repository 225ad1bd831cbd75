"""Comparing as `TestCase.assertEqual` does: a number may be a tensor of one element, and anything may be compared."""
import enum
import sys
from collections.abc import Mapping, Sequence

from dragon.vm import torch
from dragon.vm.torch.storage import TypedStorage
from dragon.vm.torch.testing._comparison import Comparison, Mismatch, base_of, is_kind, plain_number

SINGLE = {int: "int64", float: "float32", complex: "complex64"}  # whose tolerances plain numbers have
NUMBERS = (int, float, complex)


def is_array(value):
    """Return whether a value is a tensor or an array of NumPy's."""
    if isinstance(value, torch.Tensor):
        return True
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


class LooseComparison(Comparison):
    """Two nested results under the options of a test case.

    Parameters
    ----------
    case : TestCase
        Its `precision` and `rel_tol` are the least tolerances.
    equal : Callable[[Any, Any], None]
        Compares what is no number and no tensor.
    options : Any
        Of a comparison.

    """

    number_types_matter = False

    def __init__(self, case, equal, **options):
        super().__init__(allow_subclasses=True, **options)
        self.least, self.equal = (case.rel_tol, case.precision), equal
        nn = torch.nn
        self.sequences = (Sequence, nn.Sequential, nn.ModuleList, nn.ParameterList, torch.utils.data.Subset)
        self.mappings = (Mapping, nn.ModuleDict, nn.ParameterDict)

    def tolerances(self, names, path):
        """Return (rtol, atol), not less than the test case's."""
        return tuple(map(max, super().tolerances(names, path), self.least))

    def pair_up(self, actual, expected, path=()):
        """Yield functions that compare one pair of items each."""
        if all(isinstance(item, self.sequences) and not isinstance(item, (str, bytes)) for item in (actual, expected)):
            yield from super().pair_up(*([item[place] for place in range(len(item))] for item in (actual, expected)),
                                       path)
        elif all(isinstance(item, self.mappings) for item in (actual, expected)):
            yield from super().pair_up(dict(actual.items()), dict(expected.items()), path)
        else:
            yield from super().pair_up(actual, expected, path)

    def choose(self, actual, expected, path):
        """Return the function that compares two items of these kinds."""
        both = (actual, expected)
        if any(item is None for item in both):
            return lambda: self.compare_same("None mismatch", actual, expected, path)
        if any(is_kind(item, bool, "bool_") for item in both) and all(map(may_be_number, both)):
            return lambda: self.compare_same("Booleans mismatch", *(bool(one_number(item, "boolean", path))
                                                                    for item in both), path)
        if any(is_kind(item, NUMBERS, "number") for item in both) and all(map(may_be_number, both)):
            return self.choose_numbers(*(one_number(item, "number", path) for item in both), path)
        if all(map(is_array, both)):
            tensors = [torch.as_tensor(item) for item in both]
            tolerances = self.tolerances([tensor.dtype.name for tensor in tensors], path)
            return lambda: self.compare_tensors(*tensors, *tolerances, path)
        if all(isinstance(item, TypedStorage) for item in both):
            return self.choose(*(item._elements() for item in both), path)
        return lambda: self.compare_plainly(actual, expected, path)

    def choose_numbers(self, actual, expected, path):
        """Return the function that compares two Python numbers, of whatever types."""
        kinds = [SINGLE[base_of(item)] for item in (actual, expected)]
        rtol, atol = self.tolerances(kinds, path)
        return lambda: self.compare_numbers(actual, expected, rtol, atol, path)

    def compare_plainly(self, actual, expected, path):
        """Compare what is no number and no tensor."""
        try:
            self.equal(actual, expected)
        except AssertionError as error:
            kinds = {str: "String", bytes: "String", set: "Set"}
            what = next((word for kind, word in kinds.items() if isinstance(actual, kind)), None) or (
                "Type" if isinstance(actual, type) else "Object")
            raise Mismatch(AssertionError, f"{what} comparison failed: {error}", path) from None


def may_be_number(item):
    """Return whether an item is a number, of an enumeration say, or an array."""
    return is_kind(item, (*NUMBERS, enum.Enum), "number") or is_kind(item, bool, "bool_") or is_array(item)


def one_number(item, what, path):
    """Return an item as a Python number."""
    if is_array(item):
        count = item.numel() if isinstance(item, torch.Tensor) else item.size
        if count > 1:
            raise Mismatch(ValueError, f"Only single element tensor-likes can be compared against a {what}. Got "
                           f"{count} elements instead.", path)
        item = item.item()
        return int(item) if isinstance(item, bool) else item
    return int(item.value) if isinstance(item, enum.Enum) else plain_number(item)
