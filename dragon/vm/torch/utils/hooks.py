"""Handles of registered hooks."""
import weakref
from collections import OrderedDict

from dragon.vm.torch.core.missing import module_getattr


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook away, and so does the end of a `with` block.

    Parameters
    ----------
    hooks_dict : dict
        Hooks by the handles' ids; held weakly.
    extra_dict : Union[dict, Sequence[dict]], optional
        Further dictionaries with an entry of the same id.

    """

    next_id = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extras = [] if extra_dict is None else [extra_dict] if isinstance(extra_dict, dict) else extra_dict
        self.extra_dict_ref = tuple(weakref.ref(extra) for extra in extras)

    def remove(self):
        """Take the hook away; the second time, nothing happens."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self):
        if not self.extra_dict_ref:
            return self.hooks_dict_ref(), self.id
        return self.hooks_dict_ref(), self.id, tuple(reference() for reference in self.extra_dict_ref)

    def __setstate__(self, state):
        # Dictionaries that are gone become empty ones.
        self.hooks_dict_ref = weakref.ref(OrderedDict() if state[0] is None else state[0])
        self.id = state[1]
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if extra is None else extra)
                                    for extra in (state[2] if len(state) > 2 else ()))

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.remove()


__getattr__ = module_getattr("torch.utils.hooks", globals())
