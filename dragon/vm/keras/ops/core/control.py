"""Functions that call functions: branches, loops, maps and scans."""
from dragon import _C
from dragon.core import modes
from dragon.core.capture.control import PLAIN, Control, is_long, is_open
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.ops.common import dtype_of, operation, ops, tensor

_flow = Control(ops, tensor, waits_to_be_asked=True)


def _truth(value):
    """Return whether something holds, without a look at numbers that are not there: then it does."""
    if not isinstance(value, _C.Tensor):
        return bool(value)
    return True if modes.is_phantom() else bool(value)


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
    if isinstance(pred, _C.Tensor) and modes.is_phantom():
        return _alike(true_fn(), false_fn())
    made = _flow.cond(pred, true_fn, false_fn, "keras.ops.cond")
    if made is not PLAIN:
        return made
    return true_fn() if _truth(pred) else false_fn()


def _alike(first, second):
    """Return what the first branch makes, if the second makes tensors of the same shapes and dtypes."""
    def told(made):
        return [(tuple(leaf.shape), dtype_of(leaf)) if isinstance(leaf, (_C.Tensor, KerasTensor)) else None
                for leaf in tree.flatten(made)]
    try:
        tree.assert_same_structure(first, second)
        same = told(first) == told(second)
    except ValueError:
        same = False
    if not same:
        raise ValueError("cond: got branches that return different things, expected `true_fn` and `false_fn` to return "
                         f"tensors of the same shapes and dtypes. Received: {told(first)} and {told(second)}")
    return first


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
    last = len(branches) - 1
    if is_open(index):
        functions = {place: lambda branch=branch: branch(*operands) for place, branch in enumerate(branches)}
        made = _flow.switch(ops.clamp(index, 0, last), functions, functions[last], "keras.ops.switch")
        if made is not PLAIN:
            return made
    if isinstance(index, _C.Tensor):
        index = 0 if modes.is_phantom() else int(index)
    return branches[min(max(int(index), 0), last)](*operands)


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
    limit = None if maximum_iterations is None else int(maximum_iterations)

    def after(values):
        made = body(*values)
        return tree.map_structure(tensor, tuple(made) if several else (made,))
    rounds = 0
    while limit is None or rounds < limit:
        holds = cond(*values)
        if is_open(holds):
            made = _flow.while_loop(lambda values: cond(*values), after, values,
                                    None if limit is None else limit - rounds, "keras.ops.while_loop")
            if made is not PLAIN:
                return made if several else made[0]
        if not _truth(holds):
            break
        values = after(values)
        rounds += 1
        if modes.is_phantom():
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
    if is_open(lower) or is_open(upper):
        first, end = tensor(lower), tensor(upper)
        made = _flow.while_loop(lambda state: state[0] < end, lambda state: (state[0] + 1, body_fun(*state)),
                                (ops.cast(first, end.dtype), tree.map_structure(tensor, value)),
                                who="keras.ops.fori_loop")
        if made is not PLAIN:
            return made[1]
    elif is_long(int(upper) - int(lower)):
        places = ops.arange(int(lower), int(upper), 1, dtype=tensor(0).dtype)
        made = _flow.scan(lambda carried, place: (body_fun(place, carried), ()), tree.map_structure(tensor, value),
                          places, int(upper) - int(lower), who="keras.ops.fori_loop")
        if made is not PLAIN:
            return made[0]
    for index in range(int(lower), int(upper)):
        value = body_fun(tensor(index), value)
    return value


def _like(state):
    return tree.map_structure(lambda x: KerasTensor(x.shape, dtype=standardize_dtype(x.dtype)), state)


# In a graph a loop returns what it begins with, so nothing need be called to know the kinds of its results.
while_loop.operation.compute_output_spec = lambda self, loop_vars: _like(loop_vars)
fori_loop.operation.compute_output_spec = lambda self, init_val: _like(init_val)


def _slices(xs):
    """Return the slices of a structure of tensors along their first axis, each a structure."""
    leaves = [ops.unbind(tensor(x)) for x in tree.flatten(xs)]
    return [tree.pack_sequence_as(xs, list(items)) for items in zip(*leaves)]


def _mapped(function, xs, who):
    """Return a function's results for each slice, stacked."""
    leaves = [tensor(x) for x in tree.flatten(xs)]
    if leaves and leaves[0].ndim and is_long(leaves[0].shape[0]):
        made = _flow.scan(lambda carried, places: (carried, function(tree.pack_sequence_as(xs, places))), (), leaves,
                          int(leaves[0].shape[0]), who=who)
        if made is not PLAIN:
            return made[1]
    return _stacked([function(item) for item in _slices(xs)])


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
    return _mapped(f, xs, "keras.ops.map")


@operation
def vectorized_map(function, elements):
    """Return a function's results for each slice along the first axis, stacked; see `map`."""
    return _mapped(function, elements, "keras.ops.vectorized_map")


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
    leaves = [] if xs is None else [tensor(x) for x in tree.flatten(xs)]
    rounds = int(length) if not leaves else int(leaves[0].shape[0])
    if is_long(rounds):
        def step(carried, places):
            return f(carried, tree.pack_sequence_as(xs, places) if leaves else None)
        made = _flow.scan(step, tree.map_structure(tensor, init), leaves, rounds, reverse, "keras.ops.scan")
        if made is not PLAIN:
            return made
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
