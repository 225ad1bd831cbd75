"""Lists and dictionaries that nodes hold: nobody changes them behind a graph's back."""
from dragon.vm.torch.core.containers import register_pytree_node


def _refusal(name):
    def refuse(self, *args, **kwargs):
        raise TypeError(f"{type(self).__name__!r} object does not support mutation. Arguments of a torch.fx.Node are "
                        "changed by giving it others: make a copy, change that, and assign it to node.args or "
                        "node.kwargs (see also Node.update_arg and Node.update_kwarg)")
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Refuse: this container is never changed."
    return refuse


class immutable_list(list):
    """A list that cannot be changed."""

    for _name in ("append clear extend insert pop remove reverse sort __delitem__ __iadd__ __imul__ "
                  "__setitem__").split():
        locals()[_name] = _refusal(_name)
    del _name

    def __hash__(self):
        return hash(tuple(self))

    def __reduce__(self):
        return type(self), (tuple(self),)


class immutable_dict(dict):
    """A dictionary that cannot be changed."""

    for _name in "clear pop popitem setdefault update __delitem__ __ior__ __setitem__".split():
        locals()[_name] = _refusal(_name)
    del _name

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __reduce__(self):
        return type(self), (dict(self),)


register_pytree_node(immutable_list, lambda value: (list(value), None), lambda children, _: immutable_list(children))
register_pytree_node(immutable_dict, lambda value: (list(value.values()), list(value.keys())),
                     lambda children, keys: immutable_dict(zip(keys, children)))
