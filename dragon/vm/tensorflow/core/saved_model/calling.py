"""Operators that are called by name: what `tf.raw_ops` shows of the table that programs in files run by."""
import collections
import inspect

from dragon.dialects.tensorflow.signatures import parts_of
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model import operators  # noqa: F401: it fills the table
from dragon.vm.tensorflow.core.saved_model.arguments import Argument
from dragon.vm.tensorflow.core.saved_model.table import find
from dragon.vm.tensorflow.core.saved_model.values import Host, RaggedVariant, TensorList, dtype_of

_missing = object()


class Call:
    """A call of an operator, in the place of a file's node.

    Parameters
    ----------
    op : str
        The operator.
    attributes : dict
        Their values by name.

    """

    __slots__ = ("op", "name", "where", "attributes", "kept")

    def __init__(self, op, attributes):
        self.op, self.name, self.where, self.attributes, self.kept = op, op, "tf.raw_ops", attributes, None

    def get(self, name, default=_missing):
        """Return an attribute's value."""
        if name in self.attributes:
            return self.attributes[name]
        if default is _missing:
            raise invalid_argument(f"{self.op}: got no attribute '{name}', expected one")
        return default


def _operands(op, arguments, given, attributes):
    """Return the inputs as tensors, and enter the attributes that they tell."""
    known = {}
    for argument in arguments:  # tensors say which dtype the numbers beside them take
        values = given[argument.name] if argument.is_list else [given[argument.name]]
        if argument.is_list and not isinstance(values, (list, tuple)):
            raise TypeError(f"Expected list for '{argument.name}' argument to '{op}' Op, not {values}.")
        for value in values:
            if argument.dtype and hasattr(value, "dtype"):
                known.setdefault(argument.dtype, as_dtype(value.dtype))
    found = []
    for argument in arguments:
        values = given[argument.name] if argument.is_list else [given[argument.name]]
        several = op in SEVERAL_DTYPES and argument.is_list
        made = []
        for value in values:
            if not isinstance(value, (Host, RaggedVariant, TensorList)):
                is_free = hasattr(value, "dtype") or several
                value = convert_to_tensor(value, None if is_free else argument.fixed or known.get(argument.dtype))
                if not several:
                    argument.check_input(value.dtype, known, op, len(found) + len(made))
            if argument.dtype and not several:
                known.setdefault(argument.dtype, dtype_of(value) if hasattr(value, "dtype") else None)
            made.append(value)
        if argument.count:
            attributes[argument.count] = len(made)
        if argument.dtype:
            dtypes = [as_dtype(getattr(value, "dtype", "variant")) for value in made]
            attributes.setdefault(argument.dtype, dtypes if several else dtypes[0] if dtypes else None)
        found += made
    return found


SEVERAL_DTYPES = {"IdentityN", "Assert", "DecodeCSV", "ParseExampleV2", "ParseSingleExample", "PrintV2", "StringFormat",
                  "TupleBarrier"}


def _shown(value):
    """Return a result as a tensor."""
    return value.tensor() if type(value) is Host else value


def make_caller(op, line):
    """Return the function of an operator.

    Parameters
    ----------
    op : str
        Its name.
    line : Line
        What it takes and returns.

    """
    arguments = [Argument(part) for part in parts_of(line)]
    inputs = [argument for argument in arguments if argument.is_input]
    signature = inspect.Signature([inspect.Parameter(argument.name, inspect.Parameter.KEYWORD_ONLY,
                                                     default=argument.default) for argument in arguments]
                                  + [inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None)])
    kind = collections.namedtuple(op, line.results) if len(line.results) > 1 else None

    def function(*args, **kwargs):
        if args:
            raise TypeError(f"{op} only takes keyword args (possible keys: {list(signature.parameters)}). Please pass "
                            "these args as kwargs instead.")
        try:
            bound = signature.bind(**kwargs)
        except TypeError as error:
            raise TypeError(f"tf.raw_ops.{op}: {error}; its arguments are {signature}") from None
        bound.apply_defaults()
        given = bound.arguments
        attributes = {argument.attribute: argument.read(given[argument.name], op) for argument in arguments
                      if not argument.is_input}
        operands = _operands(op, inputs, given, attributes)
        found = find(op).run(Call(op, attributes), *operands)
        if not line.results:
            return None
        if line.is_list:
            return [_shown(value) for value in (found if isinstance(found, (list, tuple)) else [found])]
        if kind is not None:
            return kind(*(([_shown(one) for one in value] if isinstance(value, list) else _shown(value))
                          for value in found[:len(kind._fields)]))
        return _shown(found)
    function.__name__ = function.__qualname__ = op
    function.__module__ = "tensorflow.raw_ops"
    function.__signature__ = signature
    function.__doc__ = f"Run TensorFlow's operator {op}; all arguments are passed by name."
    return function
