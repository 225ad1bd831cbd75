"""Handles with which registered hooks are taken out again."""
import itertools
import weakref

_numbers = itertools.count()


class RemovableHandle:
    """The handle of a registered hook; leaving a `with` block over it, or `remove`, takes the hook out.

    Parameters
    ----------
    hooks_dict : dict
        Where the hook stands, under the handle's `id`.
    extra_dict : Union[dict, List[dict]], optional
        Further dicts with an entry of that id.

    """

    __module__ = __name__.replace(".core.", ".utils.")  # where PyTorch has it
    next_id = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.id = next(_numbers)
        extras = extra_dict if isinstance(extra_dict, list) else [] if extra_dict is None else [extra_dict]
        self._dicts = [_reference(table) for table in (hooks_dict, *extras)]

    def remove(self):
        """Take the hook out; a second time does nothing."""
        for reference in self._dicts:
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self):
        return [reference() for reference in self._dicts], self.id

    def __setstate__(self, state):
        tables, self.id = state
        self._dicts = [_reference(HookDict() if table is None else table) for table in tables]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class HookDict(dict):
    """A dict that may be weakly referenced."""

    __slots__ = ("__weakref__",)


def _reference(table):
    """Return a weak reference to a dict, or what stands in for one where it allows none."""
    try:
        return weakref.ref(table)
    except TypeError:
        return lambda: table
