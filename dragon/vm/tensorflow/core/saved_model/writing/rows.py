"""Nodes of ONNX that rows tell: what they are in TensorFlow's nodes, by ONNX's definitions of their arguments."""
import builtins
import functools

from dragon.dialects.rows import compile_row, free_names
from dragon.dialects.tensorflow import table
from dragon.vm.tensorflow.core.saved_model.writing.builder import WORDS

OPSET = 18  # of the exports that are translated
PYTHON = {"fold": functools.reduce, **{name: getattr(builtins, name) for name in (
    "any", "bool", "len", "list", "range", "reversed")}}


class Refused(Exception):
    """Raised by a row for a node that cannot be written; the message says what of it."""


def word(function):
    """Enter a function that rows call by its name, and which gets the builder before what they give it."""
    WORDS[function.__name__] = function
    return function


@word
def refuse(b, what):
    """Say that TensorFlow's nodes cannot express this one."""
    raise Refused(what)


@word
def integers(b, x):
    """Return what must be known of an operand."""
    if x.number is None:
        refuse(b, "with numbers that are known at run time only")
    return x.number.reshape(-1).tolist()


def known_rank(b, x):
    """Return the number of axes of an operand."""
    return refuse(b, "of a tensor whose rank is not known is not supported") if x.rank is None else x.rank


@word
def counts_back(b, places):
    """Return whether places are known to count from the end."""
    return places.number is not None and bool((places.number < 0).any())


@word
def swapped(b, x, axis):
    """Return the order of axes in which one of them and the last are exchanged."""
    order = list(range(known_rank(b, x)))
    order[axis], order[-1] = order[-1], order[axis]
    return order


@word
def axes_of(b, x, axes):
    """Return the axes of a reduction, which are all where none are told."""
    return list(range(known_rank(b, x))) if axes is None else integers(b, axes)


@word
def reduce(b, op, x, axes, keep):
    """Return a reduction along axes."""
    axes = axes if isinstance(axes, list) else axes_of(b, x, axes)
    rank = x.rank if keep or x.rank is None else x.rank - len(axes)
    return b.call(op, x, axes, rank=rank, keep_dims=bool(keep))


@word
def channels_last(b, x):
    """Return a tensor with its channels last."""
    return b.transpose(x, [0, *range(2, x.rank), 1])


@word
def channels_first(b, x):
    """Return a tensor with its channels first."""
    return b.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)])


@functools.cache
def handler_of(op):
    """Return what writes a node of ONNX by its row, or None.

    Parameters
    ----------
    op : str
        ONNX's name.

    Returns
    -------
    Optional[Callable[[Builder, Call], Any]]
        Returns the node's results.

    """
    row = table.onnx_rows().get(op)
    if row is None:
        return None
    from onnx import defs, helper
    schema, read = defs.get_schema(op, OPSET), free_names(row)
    inputs = [(one.name, one.option == defs.OpSchema.FormalParameterOption.Variadic) for one in schema.inputs]
    attributes = {name: _plain(helper.get_attribute_value(one.default_value)) if one.default_value.name else None
                  for name, one in schema.attributes.items() if name in read}
    function = compile_row(row, [(name, False, None) for name in ("b", *(name for name, _ in inputs), *attributes)],
                           PYTHON.get, owner="b")

    def handle(b, call):
        ends = [call.ends[place:] if is_list else call.end(place) for place, (_, is_list) in enumerate(inputs)]
        try:
            return function(b, *ends, *(call.get(name, default) for name, default in attributes.items()))
        except Refused as error:
            raise call.refusal(str(error)) from None
    return handle


def _plain(value):
    """Return a default as it was written: ONNX has it as the nearest number of 32 bits."""
    return float(f"{value:.7g}") if isinstance(value, float) else value
