"""`torch.fx._pytree`: the leaves of arguments whose nesting is known."""
from collections import namedtuple

from dragon.vm.torch.utils._pytree import LeafSpec, PyTree, TreeSpec

SUPPORTED_NODES, SUPPORTED_NODES_EXACT_MATCH = {}, {}


def register_pytree_flatten_spec(cls, flatten_fn_spec, flatten_fn_exact_match_spec=None):
    """Say how a class is taken apart by a structure.

    Parameters
    ----------
    cls : type
        The class.
    flatten_fn_spec : Callable[[Any, TreeSpec], list]
        Returns the children that the structure knows of.
    flatten_fn_exact_match_spec : Callable[[Any, TreeSpec], bool], optional
        Whether there are no others.

    """
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _deregister_pytree_flatten_spec(cls):
    SUPPORTED_NODES.pop(cls)
    SUPPORTED_NODES_EXACT_MATCH.pop(cls)


def tree_flatten_spec(pytree, spec):
    """Return the leaves of a tree that stand where a structure has leaves.

    Parameters
    ----------
    pytree : PyTree
        The tree.
    spec : TreeSpec
        The structure.

    Returns
    -------
    List[Any]
        The leaves.

    """
    if spec.is_leaf():
        return [pytree]
    if spec.type not in SUPPORTED_NODES:
        raise RuntimeError(f"torch.fx._pytree.tree_flatten_spec: got a structure with {spec.type}, expected one that "
                           "register_pytree_flatten_spec knows")
    children = SUPPORTED_NODES[spec.type](pytree, spec)
    return [leaf for child, part in zip(children, spec.children()) for leaf in tree_flatten_spec(child, part)]


def _dict_flatten_spec(d, spec):
    return [d[key] for key in spec.context]


def _sequence_flatten_spec(d, spec):
    return [d[place] for place in range(spec.num_children)]


_list_flatten_spec = _tuple_flatten_spec = _namedtuple_flatten_spec = _sequence_flatten_spec
for _class, _flatten in ((dict, _dict_flatten_spec), (list, _list_flatten_spec), (tuple, _tuple_flatten_spec),
                         (namedtuple, _namedtuple_flatten_spec)):
    register_pytree_flatten_spec(_class, _flatten, lambda d, spec: len(d) == spec.num_children)
