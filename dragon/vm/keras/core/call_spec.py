"""The arguments of one call of a layer: which are tensors, and what shapes `build` is told."""
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.convert import is_tensor
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.core.operation import is_default
from dragon.vm.keras.core.shapes import standardize_shape


def is_tensor_or_symbolic(x, allow_none=False):
    """Tell whether something is a tensor, with numbers or without; or None, if that will do."""
    return is_tensor(x) or isinstance(x, KerasTensor) or allow_none and x is None


class CallContext:
    """What layers called by a layer learn from it: above all, whether it is training."""

    def __init__(self, entry_layer):
        self.entry_layer = entry_layer

    def get_value(self, name, default=None):
        """Return an argument that an outer call had."""
        return getattr(self, name, default)

    def set_value(self, name, value):
        """Tell inner calls an argument."""
        setattr(self, name, value)


class CallSpec:
    """The bound arguments of a call.

    Parameters
    ----------
    signature : inspect.Signature
        The signature of the layer's `call`.
    context_names : Iterable[str]
        Arguments that inner layers inherit; the layer itself need not take them, and then they are taken away here.
    args : Sequence[Any]
        The arguments.
    kwargs : Dict[str, Any]
        The named arguments.

    """

    def __init__(self, signature, context_names, args, kwargs):
        own = signature.parameters
        context = {name: kwargs.pop(name) for name in context_names if name in kwargs and name not in own}
        bound = signature.bind(*args, **kwargs)
        self.user_arguments = {**context, **bound.arguments}
        bound.apply_defaults()
        self.arguments = dict(bound.arguments)
        self.tensors, self.nested_names = {}, []
        for name, value in self.arguments.items():
            if is_tensor_or_symbolic(value):
                self.tensors[name] = value
            elif isinstance(value, tree.PLAIN) and len(value):
                self._note_nested(name, value)
        self.first = next(iter(self.arguments.values()), None)
        self.eager = all(is_tensor(x) for x in self.tensors.values())

    def _note_nested(self, name, value):
        leaves = tree.flatten(value)
        if all(is_tensor_or_symbolic(x, allow_none=True) for x in leaves):
            self.tensors[name] = value
            self.nested_names.append(name)
        elif any(is_tensor_or_symbolic(x) for x in leaves):
            raise ValueError("In a nested call() argument, you cannot mix tensors and non-tensors. Received invalid "
                             f"mixed argument: {name}={value}")

    def shapes(self):
        """Return the shapes of the tensors, each under its argument's name and `_shape`."""
        def shape_of(x):
            return None if x is None else standardize_shape(tuple(x.shape))
        return {f"{name}_shape": tree.map_structure(shape_of, value) for name, value in self.tensors.items()
                if name not in ("mask", "args", "kwargs")}

    def shapes_for(self, method, layer_name):
        """Return the shapes that a method (`build`, `compute_output_shape`) asks for by its parameters' names."""
        if is_default(method):
            return None
        import inspect
        names = [name for name, parameter in inspect.signature(method).parameters.items()
                 if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)]
        shapes = self.shapes()
        if len(names) == 1:
            return {names[0]: next(iter(shapes.values()), None)}
        word = method.__name__
        opening = (f"For a `{word}()` method with more than one argument, all arguments should have a `_shape` suffix "
                   f"and match an argument from `call()`. E.g. `{word}(self, foo_shape, bar_shape)`  For layer "
                   f"'{layer_name}', ")
        wanted = {}
        for name in names:
            if not name.endswith("_shape"):
                raise ValueError(f"{opening}Received `{word}()` argument `{name}`, which does not end in `_shape`.")
            if name.removesuffix("_shape") not in self.arguments:
                raise ValueError(f"{opening}received `{word}()` argument `{name}`, but `call()` does not have argument "
                                 f"`{name.removesuffix('_shape')}`.")
            if name in shapes:
                wanted[name] = shapes[name]
        return wanted
