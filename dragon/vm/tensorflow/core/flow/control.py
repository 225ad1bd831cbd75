"""Control flow in TensorFlow's words: Python's own, over tensors and structures of them.

What graphs of TensorFlow need, `parallel_iterations`, `swap_memory`, `infer_shape` and `strict`, is taken and not used:
calls run one after the other, as they are written. While a `tf.function` is captured, predicates that depend on its
arguments become graphs of both branches, and loops that depend on them or are long become loops of the graph.
"""
import contextlib

from dragon import _C
from dragon.core import modes
from dragon.core.capture.control import PLAIN, NoGraph, PassedOn, give_up, is_long, is_open, part
from dragon.vm.shared import nest
from dragon.vm.shared.autograph.staging import attempt, flow as _flow, packed, unpacked
from dragon.vm.shared.data.structure import has_fields
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors import tracing
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.tensor import Tensor, ops
from dragon.vm.shared.written.mapping import over_stand_ins
from dragon.vm.shared.written.nodes import writes
from dragon.vm.tensorflow.core.extension.mapping import map_fields
from dragon.vm.tensorflow.core.flow.rows import first_axis, of_dtypes, stack_structures


_ALIKE = ("true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return "
          "values")


def _branches(make, functions):
    """Return what `make` makes of functions whose results may hold arrays of tensors; or PLAIN."""
    kinds = []

    def branch(function):
        def run():
            made = function()
            del kinds[:]
            return packed(made, kinds)
        return run
    made = make(*map(branch, functions))
    return made if made is PLAIN else unpacked(made, iter(kinds))


def _loop(holds, after, state, limit):
    """Return what a loop leaves whose state may hold arrays of tensors; or PLAIN."""
    kinds = []
    try:
        first = packed(state, kinds)
    except NoGraph as error:
        give_up(f"tf.while_loop: {error}")
        return PLAIN
    made = _flow.while_loop(lambda state: holds(unpacked(state, iter(kinds))),
                            lambda state: packed(after(unpacked(state, iter(kinds))), []), first, limit,
                            "tf.while_loop")
    return made if made is PLAIN else unpacked(made, iter(kinds))


def _predicate(pred, who):
    """Return a predicate, checked; a variable as the tensor that it holds."""
    if isinstance(pred, _C.Tensor) and _C.Tensor.size.__get__(pred) != 1:
        raise invalid_argument(f"{who}: the predicate must be a scalar. Received: {pred!r}")
    return pred


def _truth(pred, who):
    """Return a predicate as a bool."""
    if isinstance(pred, _C.Tensor):
        if _C.Tensor.size.__get__(pred) != 1:
            raise invalid_argument(f"{who}: the predicate must be a scalar. Received: {pred!r}")
        return bool(pred)
    return bool(pred)


def _require_alike(one, other):
    """Raise a TypeError if two branches, which are no graph, have returned what cannot be one result."""
    try:
        nest.assert_same_structure(one, other)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{_ALIKE}: {error}") from None
    for value, another in zip(*([_as_tensors(item) for item in nest.flatten(made)] for made in (one, other))):
        mine, theirs = getattr(value, "dtype", None), getattr(another, "dtype", None)
        if mine != theirs:
            raise TypeError(f"{_ALIKE}: got dtypes {mine!r} and {theirs!r}")


def cond(pred, true_fn=None, false_fn=None, name=None):
    """Return what one of two functions returns.

    Parameters
    ----------
    pred : Union[Tensor, bool]
        Which one is called.
    true_fn, false_fn : Callable
        Functions of no arguments.
    name : str, optional
        Accepted.

    Returns
    -------
    Any
        What the function returned.

    Examples
    --------
    >>> x = tf.constant(3)
    >>> tf.cond(x > 0, lambda: x * 10, lambda: -x).numpy()
    np.int32(30)

    """
    for argument, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"'{argument}' must be callable. Received: {function!r}")
    predicate = _predicate(pred, "tf.cond")
    found = []
    made = _branches(lambda *ways: _flow.cond(predicate, *ways, "tf.cond"),
                     [lambda way=way: found.append(way()) or found[-1] for way in (true_fn, false_fn)])
    if made is not PLAIN:
        return made
    if len(found) == 2:
        _require_alike(*found)
    return true_fn() if _truth(pred, "tf.cond") else false_fn()


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """Return what the function beside the first true predicate returns.

    Parameters
    ----------
    pred_fn_pairs : Sequence[Tuple[Tensor, Callable]]
        Predicates and functions of no arguments.
    default : Callable, optional
        Called where no predicate is true; without it, the last function is.
    exclusive : bool, optional, default=False
        Not used: predicates after the first true one are not looked at, as TensorFlow does it outside of graphs.

    Returns
    -------
    Any
        What the function returned.

    """
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    if not pairs:
        raise ValueError("Argument `pred_fn_pairs` must provide at least one pair. Received: []")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not callable(pair[1]):
            raise TypeError(f"Each entry in `pred_fn_pairs` must be a (predicate, callable) tuple. Received: {pair!r}")
    if default is not None and not callable(default):
        raise TypeError(f"Argument `default` must be callable. Received: {default!r}")
    return _first_of(pairs, pairs[-1][1] if default is None else default)


def _first_of(pairs, default):
    """Return what the function beside the first true predicate returns."""
    for place, (pred, function) in enumerate(pairs):
        rest = pairs[place + 1:]
        made = _flow.cond(_predicate(pred, "tf.case"), function, lambda: _first_of(rest, default), "tf.case")
        if made is not PLAIN:
            return made
        if _truth(pred, "tf.case"):
            return function()
    return default()


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """Return what the function of a number returns.

    Parameters
    ----------
    branch_index : Union[Tensor, int]
        The number.
    branch_fns : Union[Sequence[Callable], dict]
        Functions by number.
    default : Callable, optional
        Called for numbers that have no function; without it, the last function is.

    Returns
    -------
    Any
        What the function returned.

    """
    if isinstance(branch_fns, dict):
        branches = branch_fns
    elif branch_fns and isinstance(branch_fns[0], tuple):
        branches = dict(branch_fns)
    else:
        branches = dict(enumerate(branch_fns))
    if not branches:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    if not all(callable(function) for function in branches.values()):
        raise TypeError(f"Argument `branch_fns` must hold callables. Received: {branch_fns!r}")
    otherwise = default or branches[max(branches)]
    made = _flow.switch(_predicate(branch_index, "tf.switch_case"), branches, otherwise, "tf.switch_case")
    return branches.get(int(branch_index), otherwise)() if made is PLAIN else made


def _as_tensors(structure):
    return nest.map_structure(lambda item: convert_to_tensor(item) if isinstance(item, (bool, int, float, complex, str))
                              or type(item).__module__ == "numpy" else item, structure)


def _next(before, after):
    """Return the variables of a loop after a round, or raise as TensorFlow does if they are of another kind."""
    error = None
    try:
        nest.assert_same_structure(before, after)
    except (ValueError, TypeError) as found:
        error = found
    if error is None and tracing.current() is not None:
        for one, other in zip(nest.flatten(before), nest.flatten(after)):
            if hasattr(one, "dtype") and hasattr(other, "dtype") and one.dtype != other.dtype:
                error = TypeError(f"tf.while_loop: a loop variable enters the loop with type {one.dtype!r} but has "
                                  f"type {other.dtype!r} after 1 iteration")
    if error is None:
        return after
    raise PassedOn(error) if part() is not None else error


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True,
               swap_memory=False, maximum_iterations=None, name=None):
    """Return the loop's variables after a function was applied to them as long as a condition holds.

    Parameters
    ----------
    cond : Callable
        Called with the variables; says whether to go on.
    body : Callable
        Called with the variables; returns the next ones.
    loop_vars : Sequence
        The first variables.
    shape_invariants : Any, optional
        Not used: shapes may change.
    parallel_iterations : int, optional
        Accepted.
    swap_memory : bool, optional
        Accepted.
    maximum_iterations : int, optional
        After how many times the loop ends.
    name : str, optional
        Accepted.

    Returns
    -------
    Any
        In the form of `loop_vars`.

    Examples
    --------
    >>> i, total = tf.while_loop(lambda i, total: i < 5, lambda i, total: (i + 1, total + i), (0, 0))
    >>> int(i), int(total)
    (5, 10)

    """
    if not callable(cond) or not callable(body):
        raise TypeError(f"'cond' and 'body' must be callable. Received: {cond!r} and {body!r}")
    state = _as_tensors(loop_vars)
    single = not isinstance(state, (list, tuple))
    limit = None if maximum_iterations is None else int(maximum_iterations)
    count = 0

    def holds(state):
        return cond(state) if single else cond(*state)

    def after(state):
        found = body(state) if single else body(*state)
        if not single:
            found = [found] if len(state) == 1 and not (isinstance(found, (list, tuple)) and len(found) == 1) else (
                list(found))
            if len(found) != len(state):
                raise ValueError("Number of inputs and outputs of `body` must match `loop_vars`. Got "
                                 f"{len(found)} outputs for {len(state)} loop_vars.")
            found = nest.like(state, found)
        return _next(state, _as_tensors(found))
    with contextlib.nullcontext() if back_prop else modes.no_grad():
        while limit is None or count < limit:
            pred = _predicate(holds(state), "tf.while_loop")
            if is_open(pred):
                made = attempt(_loop, holds, after, state, None if limit is None else limit - count)
                if made is not PLAIN:
                    return made
            if not _truth(pred, "tf.while_loop"):
                break
            state = after(state)
            count += 1
    return state


def _kept(results, back_prop):
    """Return results, without a history if no gradient shall flow through them."""
    return results if back_prop else nest.map_structure(lambda item: item.detach(), results)


def _signature_dtypes(signature):
    return [getattr(item, "dtype", None) or as_dtype(item) for item in nest.flatten(signature)]


def _is_loop(flat, length):
    """Return whether rounds over these tensors are captured as a loop."""
    return is_long(length) and all(type(item) is Tensor for item in flat)


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None, fn_output_signature=None):
    """Return a function's results for the entries of tensors' first axes, stacked.

    Parameters
    ----------
    fn : Callable
        Called with one entry, in the form of `elems`.
    dtype, fn_output_signature : Any, optional
        Dtypes or specs of the results, where they differ from those of `elems`.
    parallel_iterations : int, optional
        Accepted.
    swap_memory : bool, optional
        Accepted.
    infer_shape : bool, optional
        Accepted.
    name : str, optional
        Accepted.

    Returns
    -------
    Any
        In the form of what `fn` returns.

    Examples
    --------
    >>> tf.map_fn(lambda row: tf.reduce_sum(row), tf.constant([[1, 2], [3, 4]]))
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 7], dtype=int32)>

    """
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable. fn must be callable.")
    if writes(*nest.flatten(elems)):
        fn, elems, back = over_stand_ins(fn, elems)
        return _kept(back(vectorized_map(fn, elems)), back_prop)
    signature = fn_output_signature if fn_output_signature is not None else dtype
    if any(map(has_fields, nest.flatten((elems, signature)))):
        return map_fields(map_fn, fn, elems, signature, {"back_prop": back_prop})
    flat, length = first_axis(elems, "tf.map_fn")
    wanted, form = (None, elems) if signature is None else (_signature_dtypes(signature), signature)
    if _is_loop(flat, length):
        made = _flow.scan(lambda carried, places: (carried, fn(nest.pack_sequence_as(elems, places))), (), flat, length,
                          who="tf.map_fn")
        if made is not PLAIN:
            return _kept(of_dtypes(made[1], wanted or [item.dtype for item in flat]), back_prop)
    results = [fn(nest.pack_sequence_as(elems, [item[index] for item in flat])) for index in range(length)]
    if not results:
        dtypes = wanted or [item.dtype for item in flat]
        return nest.pack_sequence_as(signature if signature is not None else elems,
                                     [ops.zeros((0,), dtype=dtype) for dtype in dtypes])
    found = stack_structures(results, results[0], form)
    return _kept(of_dtypes(found, wanted or [item.dtype for item in flat]), back_prop)


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """Return a function's results as `map_fn` does; entries are taken one after the other, whatever is asked for."""
    if writes(*nest.flatten(elems)):
        fn, elems, back = over_stand_ins(fn, elems)
        return back(vectorized_map(fn, elems))
    flat, length = first_axis(elems, "tf.vectorized_map")
    if _is_loop(flat, length):
        made = _flow.scan(lambda carried, places: (carried, fn(nest.pack_sequence_as(elems, places))), (), flat, length,
                          who="tf.vectorized_map")
        if made is not PLAIN:
            return made[1]
    results = [fn(nest.pack_sequence_as(elems, [item[index] for item in flat])) for index in range(length)]
    if not results:
        raise ValueError(f"tf.vectorized_map: got no entries, expected at least one. Received: {elems!r}")
    return stack_structures(results, results[0])


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    """Return all states of a `foldl`, or of a `foldr` if `reverse` says so, stacked in the order of the entries."""
    states = _fold(fn, elems, initializer, reverse, "tf.scan", stacked=True)
    if isinstance(states, _Loop):
        return _kept(states.stacked, back_prop)
    return _kept(stack_structures(states[::-1] if reverse else states, states[0]), back_prop)


class _Loop:
    """A fold that was captured as a loop: its last state, and all of them stacked in the order of the entries."""

    def __init__(self, last, stacked):
        self.last, self.stacked = last, stacked


def _last(states):
    """Return the last state of a fold."""
    return states.last if isinstance(states, _Loop) else states[-1]


def _captured_fold(fn, elems, flat, state, begins, reverse, who, stacked):
    """Return a fold as a loop of the graph, or PLAIN; `begins`: the first state is the first entry."""
    length = int(flat[0].shape[0])
    if begins:
        flat = [item[:-1] if reverse else item[1:] for item in flat]

    def step(carried, places):
        made = _as_tensors(fn(carried, nest.pack_sequence_as(elems, places)))
        return made, made if stacked else ()
    made = _flow.scan(step, state, flat, length - begins, reverse, who)
    if made is PLAIN or not stacked:
        return made if made is PLAIN else _Loop(made[0], None)
    rows = nest.flatten(made[1])
    if begins:
        ends = [ops.unsqueeze(item, 0) for item in nest.flatten(state)]
        rows = [ops.cat([row, end] if reverse else [end, row]) for row, end in zip(rows, ends)]
    return _Loop(made[0], nest.pack_sequence_as(state, rows))


def _fold(fn, elems, initializer, reverse, who, stacked=False):
    """Return the states of a fold, from the first entry on."""
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable. fn must be callable.")
    flat, length = first_axis(elems, who)
    places = list(range(length - 1, -1, -1) if reverse else range(length))
    states = []
    if initializer is None:
        state = nest.pack_sequence_as(elems, [item[places[0]] for item in flat])
        states.append(state)
        places = places[1:]
    else:
        state = _as_tensors(initializer)
    if _is_loop(flat, length):
        made = _captured_fold(fn, elems, flat, state, initializer is None, reverse, who, stacked)
        if made is not PLAIN:
            return made
    for place in places:
        state = fn(state, nest.pack_sequence_as(elems, [item[place] for item in flat]))
        states.append(state)
    return states or [state]


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """Return the last state of a fold over the entries of a first axis.

    Parameters
    ----------
    fn : Callable
        Called with the state so far and an entry; returns the next state.
    initializer : Any, optional
        The first state; by default the first entry.

    Returns
    -------
    Any
        The state.

    """
    return _kept(_last(_fold(fn, elems, initializer, False, "tf.foldl")), back_prop)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """Return the last state of a `foldl` that goes from the last entry to the first."""
    return _kept(_last(_fold(fn, elems, initializer, True, "tf.foldr")), back_prop)
