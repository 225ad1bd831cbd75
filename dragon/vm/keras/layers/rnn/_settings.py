"""The parts that recurrent cells share: weights with an initializer, a regularizer and a constraint each, told once."""

from dragon.vm.keras import initializers
from dragon.vm.keras.core.configuration import parameters
from dragon.vm.keras.core.settings import store
from dragon.vm.shared.tensors.tensor import ops


def keep_settings(cell, given):
    """Set a cell's activations, initializers, regularizers, constraints and rates from its arguments."""
    if "units" in given and given["units"] <= 0:
        raise ValueError(f"Received an invalid value for argument `units`, expected a positive integer, "
                         f"got {given['units']}.")
    others = ("activation", "recurrent_activation", "units", "use_bias", "unit_forget_bias", "reset_after", "seed")
    store(cell, given, " ".join(name for name in others if name in given), "kernel recurrent bias")
    for name in ("dropout", "recurrent_dropout"):
        setattr(cell, name, min(1.0, max(0.0, given[name])))


def arguments_of(cell_class, given):
    """Return what a layer was given for its cell."""
    return {name: given[name] for name in parameters(cell_class.__init__) if name in given}


def delegate(cell_class):
    """Return a class decorator that reads the settings of a cell from `self.cell`."""
    def decorate(cls):
        for name in parameters(cell_class.__init__):
            if name not in ("seed", "rank"):
                setattr(cls, name, property(lambda self, name=name: getattr(self.cell, name),
                                            doc=f"`{name}`, as the cell has it."))
        return cls
    return decorate


def add_weights(cell, kernel, recurrent, bias):
    """Add a cell's three weights of these shapes; the bias is None where the cell wants none."""
    for name, shape, settings in (("kernel", kernel, "kernel"), ("recurrent_kernel", recurrent, "recurrent")):
        setattr(cell, name, cell.add_weight(
            shape=shape, name=name, initializer=getattr(cell, settings + "_initializer"),
            regularizer=getattr(cell, settings + "_regularizer"),
            constraint=getattr(cell, settings + "_constraint")))
    cell.bias = None
    if cell.use_bias:
        cell.bias = cell.add_weight(
            shape=bias, name="bias", initializer=bias_initializer(cell, bias[0]),
            regularizer=cell.bias_regularizer, constraint=cell.bias_constraint)


def bias_initializer(cell, size):
    """Return the initializer of the bias: an LSTM that is to remember begins with ones at its forget gate."""
    if not getattr(cell, "unit_forget_bias", False):
        return cell.bias_initializer
    units = size // 4

    def forget_later(_, *args, **kwargs):
        return ops.cat([cell.bias_initializer((units,), *args, **kwargs),
                        initializers.get("ones")((units,), *args, **kwargs),
                        cell.bias_initializer((units * 2,), *args, **kwargs)])

    return forget_later


def as_computed(layer, weight):
    """Return what a weight is read as, in the dtype in which its layer computes; None for None."""
    return weight if weight is None else cast(weight.value, layer.compute_dtype)


def cast(x, dtype):
    """Return a tensor in the dtype of this name; the tensor itself where it has it."""
    from dragon.vm.shared.tensors.dtypes import as_dtype
    wanted = as_dtype(dtype)
    return x if x.dtype == wanted else ops.cast(x, wanted)
