"""DALI's pipelines of data, declared as a graph and run by Dragon's threads; guests find it as `nvidia.dali`."""
from dragon.vm.dali import backend, data_node, math, ops, pipeline, plugin_manager, tensors, tfrecord, types
from dragon.vm.dali import fn
from dragon.vm.dali.pipeline import Pipeline, pipeline_def

__version__ = "2.4.0"


class NewAxis:
    """A new axis in a subscript, with a name if it is called: `x[dali.newaxis("C")]`.

    Parameters
    ----------
    name : str, optional, default=""
        The letter of the axis.

    """

    is_new_axis = True

    def __init__(self, name=""):
        self.name = name

    def __call__(self, name=""):
        return NewAxis(name)


newaxis = NewAxis()
