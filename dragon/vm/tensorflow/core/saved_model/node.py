"""Nodes: an operator, what it takes and its attributes, as Python values."""
from dragon.dialects.tensorflow.signatures import defaults_of
from dragon.vm.shared.errors import DataLossError, invalid_argument
from dragon.vm.shared.files.tensor_proto import read_proto
from dragon.vm.shared.tensors.dtypes import as_dtype

_missing = object()


def _shape(proto):
    """Return a shape as a list in which -1 is unknown; None if even the number of axes is."""
    return None if proto.unknown_rank else [dim.size for dim in proto.dim]


class Node:
    """A call of an operator.

    Parameters
    ----------
    definition : NodeDef
        As it is in the file.
    library : Library
        The functions that attributes may name.
    where : str
        In which function it is, for errors.

    """

    __slots__ = ("name", "op", "inputs", "controls", "attributes", "library", "where", "kept")

    def __init__(self, definition, library, where):
        self.name, self.op, self.library, self.where = definition.name, definition.op, library, where
        self.inputs = [name for name in definition.input if not name.startswith("^")]
        self.controls = [name[1:] for name in definition.input if name.startswith("^")]
        self.attributes = {pair.key: pair.value for pair in definition.attr}
        self.kept = None

    def get(self, name, default=_missing):
        """Return an attribute as a Python value: text as str, dtypes as DType, functions as callables.

        Parameters
        ----------
        name : str
            Its name.
        default : Any, optional
            What is meant where it is not told, which files need not; that of the operator's definition without it.

        """
        proto = self.attributes.get(name)
        kind = proto.WhichOneof("value") if proto is not None else None
        if kind is None:
            if default is _missing:
                default = defaults_of(self.op).get(name, _missing)
            if default is _missing:
                raise invalid_argument(f"{self.op}: got no attribute '{name}', expected one. Node: {self.name} of "
                                       f"{self.where}")
            return default
        if kind == "list":
            values = proto.list
            found = next((key for key in values._fields if getattr(values, key)), None)
            return [self._value(found, value) for value in getattr(values, found)] if found else []
        return self._value(kind, getattr(proto, kind))

    def called(self):
        """Return the functions that attributes name."""
        names = [name for name, proto in self.attributes.items()
                 if proto.WhichOneof("value") == "func" or proto.list.func]
        found = [self.get(name) for name in names]
        return [one for value in found for one in (value if isinstance(value, list) else [value])]

    def _value(self, kind, value):
        if kind == "s":
            try:
                return value.decode()
            except UnicodeDecodeError:
                return value
        if kind == "type":
            try:
                return as_dtype(value)
            except (TypeError, KeyError):
                raise invalid_argument(f"{self.op}: got dtype {value}, expected a known one. Node: {self.name} of "
                                       f"{self.where}") from None
        if kind == "shape":
            return _shape(value)
        if kind == "tensor":
            return read_proto(value)
        if kind == "func":
            return self.library.find(value.name, f"{self.op} node {self.name} of {self.where}")
        if kind == "placeholder":
            raise DataLossError(None, None, f"{self.op}: attribute is left open. Node: {self.name} of {self.where}")
        return value
