"""Gradients of operators without a row of derivatives: the engine's, lowered to aten and called one by one."""
from dragon.core import modes as switches
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core import overrides
from dragon.vm.torch.core.dispatching.wrapper_subclass import stand_in
from dragon.vm.torch.core.dispatching.mode_stack import asking_nobody, without_modes
from dragon.vm.torch.core.exporting.tracing_state import fall_back_to_engine, set_tracer
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.utils import _pytree as pytree

KEPT = 512  # programs whose shapes never repeat would keep graphs for ever
_graphs = {}  # by operator, and what its arguments are like; the oldest first


def replayed(call, grads):
    """Return the gradients of the tensors among a call's arguments that have any.

    Parameters
    ----------
    call : Answered
        The call.
    grads : Sequence[Optional[Tensor]]
        Those of its results.

    Returns
    -------
    List[Optional[Tensor]]
        In the order of the call's slots.

    """
    flat, spec = pytree.tree_flatten((call.args, call.kwargs))
    tensors = [item for item in flat if isinstance(item, Tensor)]
    wanted = [any(item is slot for _, _, slot in call.slots) for item in tensors]
    given = [grad for grad in grads if grad is not None]
    key = (str(call.target), spec, tuple(map(_looks, flat)), tuple(wanted), tuple(
        None if grad is None else _looks(grad) for grad in grads))
    graph = _graphs.get(key)
    if graph is None:
        while len(_graphs) >= KEPT:
            _graphs.pop(next(iter(list(_graphs))), None)  # other threads may add meanwhile
        graph = _graphs[key] = _graph(call.target, flat, spec, wanted, grads)
    read = [call.read(item) if node.users else item for item, node in zip(tensors, graph.graph.nodes)]
    found = iter(graph.forward(*read, *given))  # no module of the program's: no hook hears of it
    made = [(item, next(found)) for item, is_wanted in zip(tensors, wanted) if is_wanted]
    slots, used = [], set()
    for _, _, slot in call.slots:  # one that was handed in twice has two gradients
        place = next(place for place, (item, _) in enumerate(made) if item is slot and place not in used)
        used.add(place)
        slots.append(made[place][1])
    return slots


def _looks(item):
    if isinstance(item, Tensor):
        lies = stand_in(item)
        return tuple(lies.shape), lies.strides, item.dtype, str(item.device)
    return type(item), repr(item)


def _graph(target, flat, spec, wanted, grads):
    from dragon.vm.torch.core.exporting.make_fx import made_graph
    count = len(wanted)

    def gradients(*values):
        fall_back_to_engine()  # operators are what is traced, and may be the engine's own
        inputs = [value.detach().requires_grad_(is_wanted) for value, is_wanted in zip(values[:count], wanted)]
        writes = getattr(target._schema, "is_mutable", False)
        rest = iter([item.clone() for item in inputs] if writes else inputs)
        args, kwargs = pytree.tree_unflatten([next(rest) if isinstance(item, Tensor) else item for item in flat], spec)
        result = target.run(*args, **kwargs)
        result = result if isinstance(result, (list, tuple)) else (result,)
        upstream = iter(values[count:])
        pairs = [(item, next(upstream)) for item, grad in zip(result, grads) if grad is not None]
        from dragon.vm import torch
        asked = [item for item, is_wanted in zip(inputs, wanted) if is_wanted]
        found = torch.autograd.grad([item for item, _ in pairs], asked, [grad for _, grad in pairs], allow_unused=True)
        return tuple(torch.zeros_like(item) if got is None else got for item, got in zip(asked, found))
    examples = [_example(item) for item in (*flat, *grads) if isinstance(item, Tensor)]
    with ExitStack() as exits:
        exits.callback(overrides.count_modes)
        exits.set(overrides._local, "modes", [])
        exits.switch(set_tracer, None)
        exits.switch(switches.set_recording, True)
        exits.switch(switches.set_override_disabled, False)
        with without_modes(), asking_nobody():
            return made_graph(gradients, tuple(examples))


def _example(item):
    lies = stand_in(item)
    with ExitStack() as exits:
        exits.switch(switches.set_override_disabled, True)
        with asking_nobody():
            return ops.zeros(tuple(lies.shape), dtype=lies.dtype, device=lies.device)
