"""`tf.test`: whether graphs are the same, and how sessions of measurements are made."""
from dragon.vm.tensorflow.core.first.graphs import ConfigProto
from dragon.vm.tensorflow.core.function_graphs import GraphDef


def assert_equal_graph_def(expected, actual):
    """Raise an AssertionError where two graphs differ, whatever the order of their nodes.

    Parameters
    ----------
    expected, actual : GraphDef
        The graphs.

    """
    for what, one in (("expected", expected), ("actual", actual)):
        if not isinstance(one, GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {what}, got {type(one).__name__}")
    wanted, found = ({node.name: node for node in one.node} for one in (expected, actual))
    for name, node in wanted.items():
        if name not in found:
            raise AssertionError(f"Did not find expected node '{name}' of operator {node.op}")
        if node != found[name]:
            raise AssertionError(f"Nodes named '{name}' differ:\n{node}\n{found[name]}")
    further = sorted(set(found) - set(wanted))
    if further:
        raise AssertionError(f"Found unexpected node '{further[0]}' of operator {found[further[0]].op}")


def benchmark_config():
    """Return a `ConfigProto` for sessions in which measurements run: graphs stay as they are.

    Returns
    -------
    ConfigProto
        The message.

    """
    made = ConfigProto()
    made.graph_options.rewrite_options.dependency_optimization = made.graph_options.rewrite_options.OFF
    return made
