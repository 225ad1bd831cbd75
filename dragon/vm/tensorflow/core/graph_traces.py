"""`tf.summary.trace_on`: graphs of the functions that are called meanwhile, as TensorBoard shows them."""
from dragon.vm.shared import nest
from dragon.vm.shared.files.events import SummaryMetadata
from dragon.vm.shared.files.messages import make_message
from dragon.vm.shared.files.protobuf import Field
from dragon.vm.shared.recording import function as recorded
from dragon.vm.shared.recording.signatures import spec_of
from dragon.vm.tensorflow.core.function_graphs import GraphDef

FunctionGraphs = make_message("FunctionGraphs", "The graph of a function, before and after it is improved.",
                              partition_graphs=Field(1, GraphDef, True), pre_optimization_graph=Field(2, GraphDef),
                              post_optimization_graph=Field(3, GraphDef))
RunMetadata = make_message("RunMetadata", "What is known of a run.", partition_graphs=Field(3, GraphDef, True),
                           function_graphs=Field(4, FunctionGraphs, True))


class GraphTrace:
    """The functions that are called while it is on, each with the first arguments that it had."""

    def __init__(self):
        self._called = {}

    def start(self):
        """Note calls from here on."""
        recorded.followers.append(self._note)

    def stop(self):
        """Note no more calls."""
        recorded.followers.remove(self._note)

    def _note(self, function, args, kwargs):
        if id(function) not in self._called:
            self._called[id(function)] = function, *nest.map_structure(spec_of, (tuple(args), dict(kwargs)))

    def write(self, events, tag, step):
        """Append the graphs to a file of summaries.

        Parameters
        ----------
        events : EventFile
            The file.
        tag : str
            What they are called.
        step : int
            When it was so.

        """
        made = RunMetadata()
        for function, args, kwargs in self._called.values():
            graph = function.get_concrete_function(*args, **kwargs).graph.as_graph_def()
            made.function_graphs.append(FunctionGraphs(pre_optimization_graph=graph))
            made.partition_graphs.append(graph)
        metadata = SummaryMetadata()
        metadata.plugin_data.plugin_name, metadata.plugin_data.content = "graph_run_metadata_graph", b"1"
        from dragon.vm.shared.tensors.convert import convert_to_tensor
        events.add(tag, convert_to_tensor(made.SerializeToString()), step, metadata)
