"""Which nodes a backend can run: asked by passes that split graphs."""
import abc

from dragon.vm.torch.fx.passes.shape_prop import TensorMetadata
from dragon.vm.torch.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target


class OperatorSupportBase(abc.ABC):
    """Answers whether a node can be run."""

    @abc.abstractmethod
    def is_node_supported(self, submodules, node):
        """Return whether a node can be run.

        Parameters
        ----------
        submodules : Dict[str, Module]
            The modules by their dotted names.
        node : Node
            The node.

        Returns
        -------
        bool
            Whether it can.

        """


class OperatorSupport(OperatorSupportBase):
    """Answers by a table of names and dtypes.

    Parameters
    ----------
    support_dict : Dict[str, Optional[Tuple[Sequence, Dict[str, Sequence[dtype]]]]], optional
        Of the name of what a node calls: the dtypes of its arguments, by place and by name; None if all will do.

    """

    _support_dict = {}

    def __init__(self, support_dict=None):
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules, node):
        """Return whether the table has what a node calls, with the dtypes of its arguments."""
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        row = self._support_dict[target]
        if row is None:
            return True
        args, kwargs = row
        return all(place >= len(node.args) or not wanted or _get_arg_dtype(node.args[place]) in wanted
                   for place, wanted in enumerate(args)) and all(
            name not in node.kwargs or _get_arg_dtype(node.kwargs[name]) in wanted for name, wanted in kwargs.items())


def _get_arg_dtype(arg):
    meta = arg.meta.get("tensor_meta")
    return meta.dtype if isinstance(meta, TensorMetadata) else arg.meta["type"]


def create_op_support(is_node_supported):
    """Return the answers of a function of modules and a node."""
    class Support(OperatorSupportBase):
        """Asks the function."""

        def is_node_supported(self, submodules, node):
            """Return what the function says."""
            return is_node_supported(submodules, node)
    return Support()


def chain(*op_support):
    """Return answers that are yes where all say so."""
    return create_op_support(lambda modules, node: all(one.is_node_supported(modules, node) for one in op_support))


def any_chain(*op_support):
    """Return answers that are yes where one says so."""
    return create_op_support(lambda modules, node: any(one.is_node_supported(modules, node) for one in op_support))


class OpSupports:
    """Answers that are often wanted."""

    @classmethod
    def decline_if_input_dtype(cls, dtype):
        """Return answers that are no where an argument has a dtype."""
        return create_op_support(lambda modules, node: all(_get_arg_dtype(used) != dtype
                                                           for used in node.all_input_nodes))

    @classmethod
    def decline_if_node_in_names(cls, disallow_set):
        """Return answers that are no for nodes of certain names."""
        return create_op_support(lambda modules, node: node.name not in disallow_set)
