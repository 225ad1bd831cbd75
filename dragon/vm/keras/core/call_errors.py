"""What goes wrong in a layer's call is told with the arguments that the call had."""
from dragon import _C
from dragon.core.interrupts import is_interrupt
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.core.traceback import is_traceback_filtering_enabled
from dragon.vm.shared.letters import kind_of


class explain_call:
    """Add a layer's name and arguments to the messages of exceptions; the innermost layer tells."""

    __slots__ = ("layer", "args", "kwargs")

    def __init__(self, layer, args, kwargs):
        self.layer, self.args, self.kwargs = layer, args, kwargs

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is None or is_interrupt(error) or hasattr(error, "_keras_call_info_injected"):
            return False
        if not is_traceback_filtering_enabled():
            return False
        name = f"{type(self.layer).__name__}.call()"
        message = error.args[0] if error.args else ""
        text = (f"Exception encountered when calling {name}.\n\n\x1b[1m{message}\x1b[0m\n\n"
                f"Arguments received by {name}:\n{self._list_arguments()}")
        try:
            explained = kind_of(error)(text)
        except Exception:  # a kind that is made of something else than a message
            explained = RuntimeError(text)
        explained._keras_call_info_injected = True
        raise explained.with_traceback(trace) from None

    def _list_arguments(self):
        try:
            bound = self.layer._call_signature.bind(*self.args, **self.kwargs)
        except (TypeError, AttributeError):
            return "\n".join(f"  • {_show(value)}" for value in self.args)
        bound.apply_defaults()
        return "\n".join(f"  • {name}={_show(value)}" for name, value in bound.arguments.items())


def _show(value):
    return tree.map_structure(_show_leaf, value)


def _show_leaf(x):
    if isinstance(x, KerasTensor):
        return x
    if isinstance(x, _C.Tensor):
        return _Shown(f"tf.Tensor(shape={tuple(x.shape)}, dtype={getattr(x.dtype, 'name', x.dtype)})")
    return x


class _Shown(str):
    """Text that is shown without quotes in lists."""

    __repr__ = str.__str__
