"""`tf.function`, whose concrete functions can be seen as graphs of TensorFlow's operations."""
from dragon.vm.shared.recording.concrete import drawers
from dragon.vm.shared.recording.function import function  # noqa: F401


def _draw(concrete):
    """Return the graph of a concrete function; what it takes is imported when somebody asks."""
    from dragon.vm.tensorflow.core.function_graphs import FuncGraph
    return FuncGraph(concrete)


drawers["graph"] = _draw
