"""Functions that call functions: branches, loops, maps and scans. Python runs them, and captures hold both ways."""
from dragon.core.capture.control import PLAIN, Control, is_long, is_open
from dragon.core.capture.structure import Template
from dragon.vm.torch.core.exporting.tracing_state import current_tracer
from dragon.vm.torch.core.functions.creation import tensor
from dragon.vm.torch.core.register import plain
from dragon.vm.torch.core.tensor import Tensor, ops

_flow = Control(ops, tensor)


@plain
def cond(pred, true_fn, false_fn, operands=()):
    """Return what one of two functions makes of the operands."""
    for name, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"cond: got {type(function).__name__} for '{name}', expected a function")
    if (outer := current_tracer()) is not None:
        return outer.flow.export_cond(outer, pred, true_fn, false_fn, operands)
    made = _flow.cond(pred, lambda: true_fn(*operands), lambda: false_fn(*operands), "torch.cond")
    return (true_fn if pred else false_fn)(*operands) if made is PLAIN else made


@plain
def while_loop(cond_fn, body_fn, carried_inputs, additional_inputs=None):
    """Return the inputs after as many rounds of `body_fn` as `cond_fn` asks for."""
    if (outer := current_tracer()) is not None:
        return outer.flow.export_while(outer, cond_fn, body_fn, carried_inputs, additional_inputs)
    state, more = tuple(carried_inputs), additional_inputs or ()
    while True:
        holds = cond_fn(*state, *more)
        if is_open(holds):
            made = _flow.while_loop(lambda state: cond_fn(*state, *more), lambda state: tuple(body_fn(*state, *more)),
                                    state, who="torch.while_loop")
            if made is not PLAIN:
                return made
        if not holds:
            return state
        state = tuple(body_fn(*state, *more))


def _places(xs, dim, who):
    """Return the tensors of a structure with an axis in front, and that axis' length."""
    found = Template(xs, merge=False)
    if not found.tensors:
        raise ValueError(f"{who}: got no tensors, expected some to go along")
    lengths = {leaf.shape[dim] if leaf.ndim else None for leaf in found.tensors}
    if len(lengths) != 1 or None in lengths:
        raise ValueError(f"{who}: got tensors of shapes {[tuple(leaf.shape) for leaf in found.tensors]}, expected one "
                         f"length along axis {dim}")
    leaves = found.tensors if dim == 0 else [leaf.movedim(dim, 0) for leaf in found.tensors]
    return found.fill(leaves), lengths.pop()


def _along(step, carried, xs, length, reverse=False):
    """Return the last state and the stacked results of a loop that Python runs."""
    if not length:
        raise ValueError("scan: got a length of 0, expected at least one place, which tells what results look like")
    found, results = Template(xs, merge=False), []
    for place in range(length - 1, -1, -1) if reverse else range(length):
        carried, made = step(carried, found.fill([leaf[place] for leaf in found.tensors]))
        results.append(Template(made, merge=False))
    results = results[::-1] if reverse else results
    return carried, results[0].fill([ops.stack(column) for column in zip(*(made.tensors for made in results))])


def scan(combine_fn, init, xs, *, dim=0, reverse=False):
    """Hand a carried value through a function along an axis.

    Parameters
    ----------
    combine_fn : Callable
        Takes the carried value and a slice; returns the next value, and a result.
    init : Any
        The first carried value: a tensor, or a structure of them.
    xs : Any
        A tensor, or a structure of them.
    dim : int, optional, default=0
        Along which axis.
    reverse : bool, optional, default=False
        Begin at the end.

    Returns
    -------
    Tuple[Any, Any]
        The last carried value, and the results stacked along a first axis.

    """
    if (outer := current_tracer()) is not None:
        return outer.flow.export_scan(outer, combine_fn, init, xs, dim, reverse)
    xs, length = _places(xs, dim, "scan")
    if is_long(length):
        made = _flow.scan(combine_fn, init, xs, length, reverse, "scan")
        if made is not PLAIN:
            return made
    return _along(combine_fn, init, xs, length, reverse)


def map(f, xs, *args):
    """Return a function's results for each slice along the first axis, stacked.

    Parameters
    ----------
    f : Callable
        Takes a slice, or a structure of slices, and `args`.
    xs : Any
        A tensor, or a structure of them.
    *args : Any
        The function's further arguments.

    Returns
    -------
    Any
        The results.

    """
    if (outer := current_tracer()) is not None:
        return outer.flow.export_map(outer, f, xs, args)
    xs, length = _places(xs, 0, "map")

    def step(carried, x):
        return carried, f(x, *args)
    if is_long(length):
        made = _flow.scan(step, (), xs, length, who="map")
        if made is not PLAIN:
            return made[1]
    return _along(step, (), xs, length)[1]


def associative_scan(combine_fn, xs, dim, reverse=False, combine_mode="pointwise"):
    """Combine all slices up to each one.

    Parameters
    ----------
    combine_fn : Callable
        Combines two slices, or structures of them; must be associative.
    xs : Any
        A tensor, or a structure of them.
    dim : int
        Along which axis.
    reverse : bool, optional, default=False
        Combine from the end.
    combine_mode : str, optional, default="pointwise"
        "pointwise" or "generic": here both may do anything.

    Returns
    -------
    Any
        The combinations, in the form of `xs`.

    """
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"associative_scan: got combine_mode={combine_mode!r}, expected 'pointwise' or 'generic'")
    places, length = _places(xs, dim, "associative_scan")
    if not length:
        return xs
    slices = Template(places, merge=False)
    first = length - 1 if reverse else 0
    start = slices.fill([leaf[first] for leaf in slices.tensors])
    rest = slices.fill([leaf[:-1] if reverse else leaf[1:] for leaf in slices.tensors])

    def step(carried, x):
        made = combine_fn(carried, x)
        return made, made
    if length == 1:
        parts = [leaf[None] for leaf in Template(start, merge=False).tensors]
    else:
        _, made = scan(step, start, rest, reverse=reverse)
        ends = [leaf[None] for leaf in Template(start, merge=False).tensors]
        parts = [ops.cat([other, end] if reverse else [end, other])
                 for end, other in zip(ends, Template(made, merge=False).tensors)]
    return slices.fill([part.movedim(0, dim) if isinstance(part, Tensor) else part for part in parts])
