"""Functions that call functions: branches, loops, maps and scans."""
from dragon import _C
from dragon.core import modes
from dragon.vm.keras.core import tree
from dragon.vm.keras.ops.common import operation, ops, tensor


def _truth(value):
    """Return whether something holds, without a look at numbers that are not there: then it does."""
    if not isinstance(value, _C.Tensor):
        return bool(value)
    return True if _is_phantom() else bool(value)


def _is_phantom():
    """Return whether this thread makes shapes only."""
    now = modes.set_phantom(False)
    modes.set_phantom(now)
    return now


@operation
def cond(pred, true_fn, false_fn):
    """Call one of two functions.

    Parameters
    ----------
    pred : Union[bool, Tensor]
        Which: the first if it holds.
    true_fn, false_fn : Callable
        The functions, without arguments.

    Returns
    -------
    Any
        What the function returns.

    """
    return true_fn() if _truth(pred) else false_fn()


@operation
def switch(index, branches, *operands):
    """Call one of several functions.

    Parameters
    ----------
    index : Union[int, Tensor]
        Which; beyond the ends stands for the ends.
    branches : Sequence[Callable]
        The functions.
    *operands : Any
        Their arguments.

    Returns
    -------
    Any
        What the function returns.

    """
    if isinstance(index, _C.Tensor):
        index = 0 if _is_phantom() else int(index)
    return branches[min(max(int(index), 0), len(branches) - 1)](*operands)


@operation
def while_loop(cond, body, loop_vars, maximum_iterations=None):
    """Call a function as long as a condition holds.

    Parameters
    ----------
    cond : Callable
        Says of the variables whether to go on.
    body : Callable
        Returns the variables' next values.
    loop_vars : Union[Any, Sequence[Any]]
        The variables' first values.
    maximum_iterations : int, optional
        The most rounds.

    Returns
    -------
    Union[Any, Tuple[Any, ...]]
        The variables' last values.

    """
    several = isinstance(loop_vars, (tuple, list))
    values = tree.map_structure(tensor, tuple(loop_vars) if several else (loop_vars,))
    rounds = 0
    while (maximum_iterations is None or rounds < int(maximum_iterations)) and _truth(cond(*values)):
        made = body(*values)
        values = tuple(made) if several else (made,)
        rounds += 1
        if _is_phantom():
            break
    return values if several else values[0]


@operation
def fori_loop(lower, upper, body_fun, init_val):
    """Call `value = body_fun(index, value)` for each index of a range.

    Parameters
    ----------
    lower, upper : int
        The range.
    body_fun : Callable
        The function.
    init_val : Any
        The first value.

    Returns
    -------
    Any
        The last value.

    """
    value = init_val
    for index in range(int(lower), int(upper)):
        value = body_fun(tensor(index), value)
    return value


def _slices(xs):
    """Return the slices of a structure of tensors along their first axis, each a structure."""
    leaves = [ops.unbind(tensor(x)) for x in tree.flatten(xs)]
    return [tree.pack_sequence_as(xs, list(items)) for items in zip(*leaves)]


def _stacked(results):
    return tree.map_structure(lambda *items: ops.stack([tensor(item) for item in items]), *results)


@operation
def map(f, xs):
    """Return a function's results for each slice along the first axis, stacked.

    Parameters
    ----------
    f : Callable
        Takes a slice, or a structure of slices.
    xs : Any
        A tensor, or a structure of tensors.

    Returns
    -------
    Any
        A structure of tensors.

    """
    return _stacked([f(item) for item in _slices(xs)])


@operation
def vectorized_map(function, elements):
    """Return a function's results for each slice along the first axis, stacked; see `map`."""
    return _stacked([function(item) for item in _slices(elements)])


@operation
def scan(f, init, xs=None, length=None, reverse=False, unroll=1):
    """Hand a carried value through a function along the first axis.

    Parameters
    ----------
    f : Callable
        Takes the carried value and a slice; returns the next value, and a result.
    init : Any
        The first carried value.
    xs : Any, optional
        A structure of tensors.
    length : int, optional
        How many slices, where there are none.
    reverse : bool, optional, default=False
        Begin with the last slice.
    unroll : Union[int, bool], optional, default=1
        Nothing depends on it here: loops are always unrolled.

    Returns
    -------
    Tuple[Any, Any]
        The last carried value, and the results stacked.

    """
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    if not isinstance(unroll, bool) and (not isinstance(unroll, int) or unroll < 1):
        raise ValueError(f"`unroll` must be an positive integer or boolean. Received: unroll={unroll}")
    if xs is None and length is None:
        raise ValueError("Got no `xs` to scan over and `length` not provided. Received: xs=None, length=None")
    items = [None] * int(length) if xs is None else _slices(xs)
    carry, results = tree.map_structure(tensor, init), []
    for item in reversed(items) if reverse else items:
        carry, result = f(carry, item)
        results.append(result)
    results = results[::-1] if reverse else results
    if not results or results[0] is None:
        return carry, None
    return carry, _stacked(results)


@operation
def associative_scan(f, elems, reverse=False, axis=0):
    """Combine all slices up to each one, in a tree: a function of log(n) depth.

    Parameters
    ----------
    f : Callable
        Combines two structures of slices; must be associative.
    elems : Any
        A structure of tensors.
    reverse : bool, optional, default=False
        Combine from the end.
    axis : int, optional, default=0
        Along which axis.

    Returns
    -------
    Any
        The combinations, in the form of `elems`.

    """
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    leaves = [tensor(x) for x in tree.flatten(elems)]
    sizes = {x.shape[axis] for x in leaves}
    if len(sizes) != 1:
        raise ValueError("Array inputs to `associative_scan` must have the same first dimension. "
                         f"Received: sizes {sorted(sizes)}")
    leaves = [ops.flip(x, [axis]) for x in leaves] if reverse else leaves

    def combine(first, second):
        return [tensor(x) for x in tree.flatten(f(tree.pack_sequence_as(elems, first),
                                                  tree.pack_sequence_as(elems, second)))]
    made = _scan_tree(combine, leaves, axis)
    return tree.pack_sequence_as(elems, [ops.flip(x, [axis]) for x in made] if reverse else made)


def _every_other(x, axis, start, stop=None):
    return ops.slice(x, axis, start, stop, 2)


def _scan_tree(combine, leaves, axis):
    """Combine neighbours, scan the half as many pairs, and fill in what lies between."""
    size = leaves[0].shape[axis]
    if size < 2:
        return leaves
    pairs = combine([_every_other(x, axis, 0, size - 1) for x in leaves], [_every_other(x, axis, 1) for x in leaves])
    odd = _scan_tree(combine, pairs, axis)
    before = odd if size % 2 else [ops.narrow(x, axis, 0, x.shape[axis] - 1) for x in odd]
    rest = [_every_other(x, axis, 2) for x in leaves]
    even = combine(before, rest) if rest[0].shape[axis] else rest
    even = [ops.cat([ops.narrow(x, axis, 0, 1), y], axis) for x, y in zip(leaves, even)]
    made = []
    for first, second in zip(even, odd):
        parts = [part for pair in zip(ops.split(first, 1, axis), ops.split(second, 1, axis)) for part in pair]
        if size % 2:
            parts.append(ops.narrow(first, axis, first.shape[axis] - 1, 1))
        made.append(ops.cat(parts, axis))
    return made


def custom_gradient(f):
    """Give a function a gradient of its own.

    Parameters
    ----------
    f : Callable
        Returns its results, and the function that makes gradients of its arguments from those of the results.

    Returns
    -------
    Callable
        The function, without the second result.

    """
    from dragon.vm.shared.recording import gradient
    return gradient.custom_gradient(f)
