"""`torch.compile`: a wrapper that runs what it wraps, until there is a compiler of graphs."""
from dragon.vm.torch.nn import Module


class OptimizedModule(Module):
    """What `torch.compile` makes of a module: calls of it are calls of the module in `_orig_mod`."""

    def __init__(self, mod):
        super().__init__()
        self._orig_mod = mod
        self.training = mod.training

    def forward(self, *args, **kwargs):
        """Call the module."""
        return self._orig_mod(*args, **kwargs)

    def train(self, mode=True):
        """Set the mode of both."""
        return super().train(mode)

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        if name in ("_orig_mod", "training") or name.startswith("_") or "_modules" not in self.__dict__:
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)


def is_dynamo_supported():
    """Return False: no Python code is traced."""
    return False


is_inductor_supported = is_dynamo_supported


def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, name=None,
            disable=False, recompile_limit=None, isolate_recompiles=False, shapes_spec=None):
    """Return a function or module that does what the given one does.

    Parameters
    ----------
    model : Union[Module, Callable], optional
        What to compile; without it, a decorator is returned.
    backend : str, optional
        Any name means the engine; a function of graphs is refused, since there is no graph to give it.

    Returns
    -------
    Union[Module, Callable]
        A wrapper of a module; a function itself.

    """
    if backend is not None and not isinstance(backend, str):
        raise NotImplementedError(f"torch.compile: got backend={backend!r}, expected a name: Dragon traces no Python "
                                  "code, so that it has no graph for a function of graphs")
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if model is None:
        return compile
    if disable or not isinstance(model, Module):
        if not callable(model):
            raise TypeError(f"torch.compile: got {type(model).__name__}, expected a module or function")
        return model
    return OptimizedModule(model)
