"""The feeds of a graph: tensors by the names of its inputs, held against the shapes and dtypes that it was made for."""
from dragon import _C


def input_names(graph):
    """Return the names of a graph's inputs, in its order."""
    return [_name(graph, number) for number in graph.inputs]


def check_feeds(who, graph, feeds):
    """Return feeds in the order of a graph's inputs.

    Parameters
    ----------
    who : str
        Who speaks in the errors.
    graph : dragon.Graph
        The graph to be run.
    feeds : Dict[str, dragon.Tensor]
        Tensors by the names of the inputs.

    Returns
    -------
    List[dragon.Tensor]
        The tensors. A KeyError tells the names that lack or are too many, a TypeError a wrong dtype or kind, a
        ValueError a wrong shape; each says which feed, what came and what was expected.

    """
    wanted = {_name(graph, number): graph.value(number) for number in graph.inputs}
    unknown, missing = sorted(set(feeds) - set(wanted)), [name for name in wanted if name not in feeds]
    if unknown or missing:
        found = (("unknown feeds", unknown), ("no feed for", missing))
        trouble = [f"{words} {names}" for words, names in found if names]
        raise KeyError(f"{who}: got {' and '.join(trouble)}, expected {list(wanted)}")
    for name, info in wanted.items():
        _check_feed(f"{who}: got feed {name!r}", info, feeds[name])
    return [feeds[name] for name in wanted]


def read_sizes(who, graph, tensors):
    """Return the sizes that feeds give to a graph's symbols.

    Parameters
    ----------
    who : str
        Who speaks in the errors.
    graph : dragon.Graph
        The graph to be run.
    tensors : Sequence[dragon.Tensor]
        What `check_feeds` returned.

    Returns
    -------
    Dict[str, int]
        A size for each symbol. A ValueError tells where two feeds give different ones.

    """
    sizes = {}
    for number, tensor in zip(graph.inputs, tensors):
        for axis, symbol in graph.value(number).symbolic.items():
            if symbol in graph.symbols and sizes.setdefault(symbol, tensor.shape[axis]) != tensor.shape[axis]:
                raise ValueError(f"{who}: got {tensor.shape[axis]} for {symbol!r} on axis {axis} of feed "
                                 f"{_name(graph, number)!r}, expected {sizes[symbol]}, as before")
    return sizes


def _check_feed(got, info, tensor):
    """Raise what is wrong with one feed."""
    if not isinstance(tensor, _C.Tensor):
        raise TypeError(f"{got} of kind {type(tensor).__name__}, expected a tensor")
    if tensor.dtype.name != info.dtype:
        raise TypeError(f"{got} of dtype {tensor.dtype.name}, expected {info.dtype}")
    free = set(info.symbolic)
    shape, expected = tuple(tensor.shape), tuple(info.shape)
    fits = len(shape) == len(expected) and all(
        axis in free or size == wanted for axis, (size, wanted) in enumerate(zip(shape, expected)))
    if not fits:
        sizes = ["any" if axis in free else str(size) for axis, size in enumerate(expected)]
        raise ValueError(f"{got} of shape {shape}, expected ({', '.join(sizes)}{',' if len(sizes) == 1 else ''})")


def _name(graph, number):
    """Return the name of an input; one without a name goes by its value's number."""
    return graph.value(number).name or str(number)
