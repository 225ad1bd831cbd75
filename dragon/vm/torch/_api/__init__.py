"""PyTorch's names for what the engine has: a table per family, a row per name.

`dragon.vm.guest.Row` tells how a row is read. Its places are `torch`, `Tensor`, `functional` (of `torch.nn`),
`special`, `linalg`, `fft` and `_nn` (of `torch._C`); `torch_` is the place of `torch.<name>_`, which writes into its
first argument.
Functions that PyTorch has in more forms than the engine are written in `core.functions`, where decorators say their
places; their rows tell words, tuples and steps alone.
"""
from dragon.vm.guest import read_rows
from dragon.vm.torch._api import (activation, array, attention, convolution, fft, index, linalg, loss, math,
                                  matmul, normalization, pooling, random, recurrent, reduction, sort, tensors_only,
                                  vision)

# The engine's argument names in PyTorch's words, for every operator whose row does not say otherwise.
WORDS = {"x": "input", "y": "other", "axis": "dim", "keepdims": "keepdim", "axis0": "dim0", "axis1": "dim1",
         "axis2": "dim2", "axes": "dims", "xs": "tensors", "shape": "size", "stop": "end"}
FAMILIES = (activation, array, attention, convolution, fft, index, linalg, loss, math, matmul, normalization,
            pooling, random, recurrent, reduction, sort, vision)
ROWS = [row for family in FAMILIES for row in read_rows(family.ROWS)]
# The same for one operator, as "operator.argument"; and what the gradients of operators are called.
WORDS.update((f"{row.operator}.{word}", guest) for row in ROWS for word, guest in row.words.items())
STEPS = {row.operator: row.step for row in ROWS if row.step}
# Steps that are no calls of a name.
STEPS.update(accumulate_grad="AccumulateGrad", getitem="SliceBackward0", index_get="IndexBackward0",
             setitem="CopySlices")


def functions_at(place, ops):
    """Yield (name, function) for every row of a place.

    Parameters
    ----------
    place : str
        Such as "torch" or "Tensor_".
    ops : dragon._C.Ops
        The operators.

    """
    mark = "_" * place.endswith("_")
    for row in ROWS:
        if place in row.places:
            name = row.operator + mark
            # What is called on a tensor has one.
            is_free = place == "Tensor" and tensors_only.RULES.get(name) == tensors_only.ONE
            function = getattr(ops, name)
            yield row.name + mark, function if is_free else tensors_only.guarded(name, function, ops)
