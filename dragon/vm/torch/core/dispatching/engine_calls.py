"""Calls that the engine makes by itself with wrapper subclasses, as aten operators: sums and copies of gradients."""
import types

from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.dispatching.wrapper_subclass import is_wrapper, revive_all
from dragon.vm.torch.core.exporting.tracing_state import set_tracer
from dragon.vm.torch.core.exporting.tracer import aten
from dragon.vm.torch.core.exporting.engine_to_aten.table import arguments_of, torch_dtype
from dragon.vm.torch.core.exporting.engine_to_aten.translator import Translator
from dragon.vm.torch.core.device import device as Device
from dragon.vm.torch.core.tensor import Tensor


class _SingleCall(Translator):
    """Lowers one call, of which nothing around it is known."""

    def __init__(self, name, dispatcher):
        self.tracer, self.values, self.a, self.sizes, self.notes = dispatcher, {}, aten(), {}, {}
        self.calls, self.place = [], 0
        self.call = types.SimpleNamespace(op=name, symbolic=(), is_random=False, inputs=(), outputs=(None,) * 8)

    def lower(self, named):
        """Return what a call with these arguments gives."""
        found = self._by_rule(self.call.op, named)
        if found is None or found is NotImplemented:
            found = self._by_name(self.call, named)
        return self._own(self.call, named) if found is NotImplemented else found

    def options(self, dtype, device):
        """Return how a call that makes a tensor of nothing says of what kind."""
        found = {} if dtype is None else {"dtype": torch_dtype(dtype)}
        return {**found, "device": Device(device or "cpu"), "pin_memory": False}

    def wants(self, place):
        """Return True: whoever called takes everything."""
        return True

    def numbers(self):
        """Return no numbers of values: there is no graph."""
        return dict.fromkeys((argument["name"] for argument in arguments_of(self.call.op)), -1)

    def has_form(self, tensor):
        """Return False: nobody knows the form beforehand."""
        return False


def handle(dispatcher, name, arguments, destinations):
    """Compute a call of the engine's in which a wrapper takes part.

    Parameters
    ----------
    dispatcher : Dispatcher
        Who has operators answered.
    name : str
        The operator.
    arguments : Dict[str, Any]
        Its arguments by the names that the operator has for them.
    destinations : list
        What is to be written into; empty for a new result.

    Returns
    -------
    Union[Tensor, Sequence[Tensor]]
        The results.

    """
    named = {key: _number(dispatcher, value) for key, value in revive_all(arguments).items()}
    with ExitStack() as exits:
        exits.switch(set_tracer, dispatcher)
        found = _SingleCall(name, dispatcher).lower(named)
        if not destinations:
            return found
        results = found if isinstance(found, (list, tuple)) else [found]
        return [aten().copy_.default(place, value) for place, value in zip(revive_all(destinations), results)]


def _number(dispatcher, value):
    """Return the number that a plain tensor without axes is, as operators of one tensor and a number have it."""
    if isinstance(value, tuple) and not hasattr(value, "numel"):
        return list(value)
    is_number = isinstance(value, Tensor) and value.ndim == 0 and not is_wrapper(value) and not value.requires_grad
    return dispatcher.quietly(value.item, (), {}) if is_number and value.device.type == "cpu" else value
