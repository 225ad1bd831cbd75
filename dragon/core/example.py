"""Examples of a model's inputs, and the model's mode while it is tried on them."""

from dragon import _C
from dragon.core.operators import operators
from dragon.core.scopes import contextmanager


def example_of(model, sizes, dtype=None, device=None):
    """Return inputs of zeros for a model.

    Parameters
    ----------
    model : dragon.core.module.Module
        The model.
    sizes : Union[Sequence[int], Sequence[Sequence[int]]]
        The shape of the one input, or a shape for each.
    dtype : Union[dtype, str, Sequence[Union[dtype, str]]], optional
        The dtype of all, or of each.
    device : Union[str, Device], optional
        Where they are.

    Returns
    -------
    List[Tensor]
        Tensors of the model's face.

    """
    sizes = [tuple(size) for size in sizes] if sizes and hasattr(sizes[0], "__iter__") else [tuple(sizes)]
    if not all(isinstance(size, int) and size >= 0 for shape in sizes for size in shape):
        raise ValueError(f"summary: got input_size={sizes}, expected whole numbers, the size of the batch among them")
    dtypes = list(dtype) if isinstance(dtype, (list, tuple)) else [dtype] * len(sizes)
    if len(dtypes) != len(sizes):
        raise ValueError(f"summary: got {len(dtypes)} dtypes for {len(sizes)} sizes, expected one for each")
    first = next(iter(model.parameters()), None)
    where = str(device) if device is not None else _place_of(first)
    return [model._show(operators().zeros(size, dtype=_name_of(kind), device=where))
            for size, kind in zip(sizes, dtypes)]


def _place_of(tensor):
    if tensor is None:
        return "cpu"
    operators()  # they tell devices as a pair
    kind, index = _C.as_class(tensor, _C.Tensor).device
    return f"{kind}:{index}" if kind == "cuda" else kind


def _name_of(dtype):
    return "float32" if dtype is None else str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def tensors_of(structure):
    """Return the tensors of nested tuples, lists and dictionaries."""
    if isinstance(structure, _C.Tensor):
        return [structure]
    inner = structure.values() if isinstance(structure, dict) else structure
    return [found for one in inner for found in tensors_of(one)] if isinstance(structure, (dict, list, tuple)) else []


@contextmanager
def training_as(model, training):
    """Have all parts of a model in training, or in evaluation, within a `with` block."""
    before = [(part, part.training) for part in model.modules() if hasattr(part, "training")]
    try:
        for part, _ in before:
            part.training = training
        yield
    finally:
        for part, was in before:
            part.training = was
