"""Rules of operators that programs tell."""
from dragon.distributed.globals.signatures import BROADCAST
from dragon.vm.torch.core.dispatching.mode_stack import leaves
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.distributed.tensor._ops import CUSTOM, chosen
from dragon.vm.torch.distributed.tensor.placement_types import Placement


def register_sharding(op):
    """Return a decorator of a function that tells how an operator may be done in parts.

    Parameters
    ----------
    op : Union[OpOverload, List[OpOverload]]
        The operator, or several.

    Returns
    -------
    Callable
        Takes a function of the operator's arguments, of which tensors come as how they lie. It returns pairs:
        placements of the results, and those of the arguments, None for what is no tensor; one for each axis of the
        mesh.

    """
    def register(function):
        def decide(call):
            specs = iter(operand.spec for operand in call.operands)

            def shown(value):
                if isinstance(value, Tensor):
                    return next(specs)
                return type(value)(map(shown, value)) if type(value) in (list, tuple) else value
            ways = function(*map(shown, call.args), **{name: shown(value) for name, value in call.kwargs.items()})
            found = []
            for results, arguments in ways:
                wanted = [each.signature for each in leaves(arguments) if isinstance(each, Placement)]
                wanted += [BROADCAST] * (len(call.operands) - len(wanted))
                found.append((wanted, [each.signature if each is not None else BROADCAST for each in results]))
            return chosen(call, found)
        for each in op if isinstance(op, list) else [op]:
            CUSTOM[str(each)] = decide
        return function
    return register
