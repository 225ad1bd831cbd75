"""A place of one's own: named tensors and random state, nested, resettable, isolated from other places."""
import threading

from dragon import _C

_local = threading.local()


class Workspace:
    """Hold named tensors, and keep the random state of a `with` block apart from the surrounding one.

    Parameters
    ----------
    name : str, optional, default=""
        How it is printed.
    seed : int, optional, default=0
        Where its random state starts.

    Examples
    --------
    >>> with dragon.Workspace("trial", seed=1) as place:
    ...     place["weights"] = dragon.random.randn(3, 3)

    """

    def __init__(self, name="", seed=0):
        self.name = name
        self.seed = seed
        self.reset()

    def reset(self):
        """Forget all tensors, and start the random state anew."""
        self._tensors = {}
        self.generator = _C.Generator(self.seed)

    def __enter__(self):
        # The guard makes the generator current for this thread for as long as it lives.
        _stack().append((self, _C.GeneratorGuard(self.generator)))
        return self

    def __exit__(self, *_):
        _stack().pop()

    def __getitem__(self, name):
        if name not in self._tensors:
            raise KeyError(f"Workspace: got {name!r}, expected one of {sorted(self._tensors)}")
        return self._tensors[name]

    def __setitem__(self, name, tensor):
        self._tensors[name] = tensor

    def __delitem__(self, name):
        del self._tensors[name]

    def __contains__(self, name):
        return name in self._tensors

    def __iter__(self):
        return iter(self._tensors)

    def __len__(self):
        return len(self._tensors)

    def __repr__(self):
        return f"dragon.Workspace({self.name!r}, {len(self)} tensors)"


def _stack():
    """Return this thread's entered workspaces with their guards."""
    if not hasattr(_local, "stack"):
        _local.stack = [(Workspace("default"), None)]
    return _local.stack


def current_workspace():
    """Return the workspace of the innermost `with` block, or this thread's default one."""
    return _stack()[-1][0]
