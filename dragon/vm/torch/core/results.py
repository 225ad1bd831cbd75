"""Named tuples that functions with several results return, as `torch.return_types.max`."""
from operator import itemgetter

from dragon.vm.torch._api import ROWS


class NamedResult(tuple):
    """Several tensors with names."""

    __slots__ = ()
    _names = ()

    def __repr__(self):
        parts = ",\n".join(f"{name}={value!r}" for name, value in zip(self._names, self))
        return f"{type(self).__module__}.{type(self).__name__}(\n{parts})"

    def __reduce__(self):
        return type(self), (tuple(self),)


def make_result(name, names):
    """Return a class of results: called with a tuple of tensors, it gives them names."""
    body = {field: property(itemgetter(index)) for index, field in enumerate(names)}
    body.update(__slots__=(), _names=tuple(names), __module__="torch.return_types", n_fields=len(names),
                n_sequence_fields=len(names), n_unnamed_fields=0, __match_args__=tuple(names))
    return type(name, (NamedResult,), body)


CLASSES, OF_OPERATORS = {}, {}
for _row in ROWS:
    if _row.fields:
        _name, _fields = _row.fields
        OF_OPERATORS[_row.operator] = CLASSES.setdefault(_name, make_result(_name, _fields))
# PyTorch has a class more for calls with `out`, which histograms of several axes do not take.
OUT_CLASSES = {f"{_name}_out": make_result(f"{_name}_out", _class._names) for _name, _class in CLASSES.items()
               if _name != "histogramdd"}
