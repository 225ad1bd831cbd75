"""Pipelines: a graph that is defined once and run batch by batch, some batches ahead of who asks."""
import collections
import json
import os

from dragon.core import files
from dragon.vm.dali.core.execution import Batch, Graph, Runner, Sample, same_kind
from dragon.vm.dali.core.graph import DataNode, as_handle, pipelines
from dragon.vm.dali.core.kinds import CPU_ONLY_DEVICE_ID, to_dali_type
from dragon.vm.dali.core.refusals import absent, got
from dragon.vm.dali.tensors import TensorListCPU
from dragon.vm.dali.types import BatchInfo, SampleInfo


class Infos:
    """How callbacks are told what they are asked for."""

    sample, batch = SampleInfo, BatchInfo


class Pipeline:
    """A graph of operators that gives batches.

    Parameters
    ----------
    batch_size : int
        Samples per batch.
    num_threads : int
        Threads that work on samples.
    device_id : int, optional
        The device that programs ask for; everything runs on the host.
    seed : int, optional
        Where random numbers start from; a number that nobody knows by default.
    exec_pipelined, exec_async : bool, optional, default=True
        False runs nothing ahead of who asks.
    prefetch_queue_depth : Union[int, dict], optional, default=2
        How many batches are ahead.
    bytes_per_sample, set_affinity, max_streams, default_cuda_stream_priority, enable_memory_stats : optional
        Hints for memory and devices, which change no result.
    enable_checkpointing : bool, optional, default=False
        Whether `checkpoint` may be called.
    checkpoint : str, optional
        What `checkpoint` returned: the pipeline goes on from there.
    py_num_workers, py_start_method, py_callback_pickler : optional
        How DALI starts processes for callbacks with `parallel=True`; here threads call these.
    output_dtype, output_ndim : optional
        What the outputs must be: one, or one for each of them.
    exec_dynamic, experimental_exec_dynamic, stream_policy, concurrency, output_layout : optional
        How DALI schedules work; nothing of it changes results.

    """

    def __init__(self, batch_size=None, num_threads=None, device_id=None, seed=None, exec_pipelined=True,
                 prefetch_queue_depth=2, exec_async=True, bytes_per_sample=0, set_affinity=False, max_streams=None,
                 default_cuda_stream_priority=None, *, enable_memory_stats=False, enable_checkpointing=False,
                 checkpoint=None, py_num_workers=1, py_start_method="fork", py_callback_pickler=None,
                 output_dtype=None, output_ndim=None, output_layout=None, exec_dynamic=None,
                 experimental_exec_dynamic=None, stream_policy=None, concurrency=None):
        if batch_size is None or batch_size < 1:
            raise ValueError(got("Pipeline", f"batch_size={batch_size!r}", "a positive number: `batch_size` is needed"))
        if num_threads is not None and num_threads < 1:
            raise ValueError(got("Pipeline", f"num_threads={num_threads!r}", "a positive number"))
        self._batch_size, self._num_threads, self._device_id = batch_size, num_threads, device_id
        self._told_seed = None if seed is None or seed < 0 else int(seed)
        self._seed = int.from_bytes(os.urandom(6), "little") if self._told_seed is None else self._told_seed
        depth = prefetch_queue_depth
        depth = max(depth.values()) if isinstance(depth, dict) else depth
        self._depth = depth if exec_pipelined and exec_async else 1
        self._kinds, self._ndims, self._layouts = output_dtype, output_ndim, output_layout
        self._checkpointing, self._checkpoint = enable_checkpointing, checkpoint
        self._nodes, self._outputs, self._sinks, self._graph, self._runner = [], None, [], None, None
        self._flying, self._ready, self._batches, self._given, self._ended = collections.deque(), None, 0, 0, None
        self._states, self._sources = collections.deque(), {}
        self._iterator_data = ""
        self._conditionals = False
        self.py_num_workers, self.py_start_method = py_num_workers, py_start_method
        self.exec_async, self.exec_pipelined = exec_async, exec_pipelined

    # What is defined.

    def __enter__(self):
        pipelines().append(self)
        return self

    def __exit__(self, *_):
        pipelines().pop()

    @staticmethod
    def current():
        """Return the pipeline that is being defined, or None."""
        return pipelines()[-1] if pipelines() else None

    @staticmethod
    def push_current(pipeline):
        """Have a pipeline be the one that is being defined."""
        pipelines().append(pipeline)

    @staticmethod
    def pop_current():
        """End what `push_current` began."""
        pipelines().pop()

    def _add(self, node):
        self._nodes.append(node)

    def add_sink(self, edge):
        """Have a node computed though no output needs it."""
        self._sinks.append(edge)

    def define_graph(self):
        """Return the outputs: what a subclass overrides."""
        raise NotImplementedError(got(type(self).__name__, "no define_graph and no outputs",
                                      "set_outputs, @pipeline_def or a define_graph of its own"))

    def set_outputs(self, *output_data_nodes):
        """Say what a run gives."""
        self._outputs = []
        for place, output in enumerate(output_data_nodes):
            if isinstance(output, (list, tuple)) and any(isinstance(one, DataNode) for one in output):
                raise TypeError(f"Illegal pipeline output type. The output {place} contains a nested `DataNode`. "
                                "Missing list/tuple expansion (*) is the likely cause.")
            self._outputs.append(as_handle(output))

    def build(self):
        """Make everything ready to run; `run` does it by itself."""
        if self._graph is not None:
            return
        if self._num_threads is None:
            raise ValueError(got("Pipeline.build", "no num_threads", "a positive number"))
        if self._outputs is None:
            with self:
                outputs = self.define_graph()
            self.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else (outputs,)))
        self.iter_setup_overridden = type(self).iter_setup is not Pipeline.iter_setup
        sinks = self._sinks + [DataNode(node) for node in self._nodes if node.constants.get("preserve")]
        readers = [DataNode(node) for node in self._nodes if node.operator.kind == "source"]
        self._graph = Graph(self._outputs, sinks, self._seed)
        for handle in readers:  # a reader that feeds no output still has an epoch to tell of
            if handle.node not in self._graph.places:
                self._graph.sources.append(handle.node)
        for place, node in enumerate(self._graph.sources):
            seed = self._seed + place if node.seed is None else node.seed
            self._sources[node] = node.operator.function(**{**node.constants, "seed": seed})
        self._runner = Runner(self._graph, self._num_threads)
        if self._checkpoint is not None:
            self._restore(json.loads(self._checkpoint))
        self._states.append(self._state())

    # What is run.

    def iter_setup(self):
        """Do nothing before each batch: what a subclass overrides, to feed inputs."""

    def _fed(self):
        return any(getattr(source, "source", self) is None for source in self._sources.values())

    def schedule_run(self):
        """Begin a batch."""
        self.build()
        self.iter_setup()
        if self._ended is None:
            try:
                rows = {node: source.next(self._batch_size, Infos) for node, source in self._sources.items()}
            except StopIteration as error:
                self._ended = error
                return
            sizes = {len(row) for row in rows.values()} or {self._batch_size}
            if len(sizes) > 1:
                raise RuntimeError(got("Pipeline", f"batches of {sorted(sizes)} samples in one run", "equally many"))
            start = self._batches * self._batch_size
            samples = [Sample(start + place) for place in range(sizes.pop())]
            for node, row in rows.items():
                for sample, value in zip(samples, row):
                    sample.results[node] = value
            batch = Batch(samples, self._batches)
            self._runner.begin(batch)
            self._batches += 1
            self._flying.append(batch)
            self._states.append(self._state())

    def outputs(self, cuda_stream=None):
        """Return the next batch: a `TensorListCPU` for each output."""
        if not self._flying:
            if self._ended is not None:
                raise StopIteration
            raise RuntimeError(got("Pipeline.outputs", "no batch that was begun", "schedule_run before"))
        batch = self._flying.popleft()
        self._states.popleft()
        self._given += 1
        self._runner.finish(batch)
        return tuple(self._collect(handle, batch, place) for place, handle in enumerate(self._outputs))

    def _collect(self, handle, batch, place):
        values = [self._graph.value(handle.node, sample) for sample in batch.samples]
        arrays = [value.arrays[handle.index] for value in values]
        kind = same_kind(arrays, f"output {place}")
        layout = values[0].layouts[handle.index] if values else ""
        for wanted, came, word in ((self._kinds, kind, "dtype"), (self._layouts, layout, "layout"),
                                   (self._ndims, arrays[0].ndim if arrays else None, "ndim")):
            wanted = wanted[place] if isinstance(wanted, (list, tuple)) else wanted
            wanted = to_dali_type(wanted) if word == "dtype" and wanted is not None else wanted
            if wanted is not None and wanted != came:
                raise RuntimeError(got(f"output {place}", f"{word} {came}", f"{wanted}, the pipeline's output_{word}"))
        return TensorListCPU(arrays, layout, sources=[value.source for value in values])

    def run(self, cuda_stream=None, *, num_batches=None, **inputs):
        """Return the next batch: a `TensorListCPU` for each output.

        Parameters
        ----------
        cuda_stream : optional
            Of a device; there is none.
        num_batches : int, optional
            Several batches, as a list.
        inputs : Any
            What inputs are fed before, by their names.

        """
        if num_batches is not None:
            return [self.run(**inputs) for _ in range(num_batches)]
        for name, data in inputs.items():
            self.feed_input(name, data)
        self.build()
        # Who feeds by hand has fed for this run only, so nothing runs ahead.
        ahead = 1 if self._fed() else self._depth
        while len(self._flying) < ahead and self._ended is None:
            self.schedule_run()
        return self.outputs()

    def share_outputs(self, cuda_stream=None):
        """Return the next batch, as `outputs` does: memory is never written over."""
        self.build()
        while not self._flying and self._ended is None:
            self.schedule_run()
        return self.outputs()

    def release_outputs(self):
        """Do nothing: memory of a batch is freed when nobody looks at it."""

    def _prefetch(self):
        while len(self._flying) < self._depth and self._ended is None:
            self.schedule_run()

    def feed_input(self, data_node, data, layout=None, cuda_stream=None, use_copy_kernel=False):
        """Give an `external_source` without a source its next batch.

        Parameters
        ----------
        data_node : Union[DataNode, str]
            Which one, itself or by name.
        data : Any
            A list of arrays, or one array whose first axis counts samples.
        layout : str, optional
            The names of a sample's axes.

        """
        self.build()
        name = data_node.node.name if isinstance(data_node, DataNode) else data_node
        for node, source in self._sources.items():
            if node.name == name and hasattr(source, "feed"):
                if source.source is not None:
                    raise RuntimeError(got("feed_input", f"{name}, which has a source", "an external_source without"))
                return source.feed(data, layout)
        raise KeyError(f'Could not find an input operator with name "{name}"')

    def input_feed_count(self, input_name):
        """Return how many batches an input wants before a run."""
        return 1

    def reset(self):
        """Begin an epoch after the last one has ended."""
        if self._ended is not None:
            self._ended = None
            for source in self._sources.values():
                source.reset()

    def empty(self):
        """Return whether no batch is on its way."""
        return not self._flying

    # What is told.

    def reader_meta(self, name=None):
        """Return what readers tell of their epochs: of one, or of all by their names."""
        self.build()
        metas = {node.name: source.meta() for node, source in self._sources.items() if source.meta() is not None}
        if name is None:
            return metas
        if name not in metas:
            raise RuntimeError(got("reader_meta", f"name={name!r}", f"one of {sorted(metas)}"))
        return metas[name]

    def epoch_size(self, name=None):
        """Return how many samples an epoch has, padding included: of one reader, or of all by their names."""
        metas = self.reader_meta(name)
        if name is not None:
            return metas["epoch_size_padded"]
        return {one: meta["epoch_size_padded"] for one, meta in metas.items()}

    def output_dtype(self):
        """Return what the outputs' types must be."""
        return self._spread(self._kinds)

    def output_ndim(self):
        """Return what the outputs' numbers of axes must be."""
        return self._spread(self._ndims)

    def _spread(self, value):
        return list(value) if isinstance(value, (list, tuple)) else [value] * self.num_outputs

    def executor_statistics(self):
        """Return nothing: no memory is set aside."""
        return {}

    def external_source_shm_statistics(self):
        """Return what processes share: nothing, since callbacks run in threads."""
        return {"capacities": [], "per_sample_capacities": []}

    def start_py_workers(self):
        """Do nothing: there are no processes to start."""

    # Going on later.

    def _state(self):
        return {"batches": self._batches, "seed": self._seed,
                "sources": [source.state() for source in self._sources.values()]}

    def checkpoint(self, filename=None):
        """Return the state after the last batch that was given out, and write it to a file if one is named."""
        if not self._checkpointing:
            raise ValueError(got("Pipeline.checkpoint", "a pipeline without checkpoints",
                                 "one made with enable_checkpointing=True"))
        self.build()
        text = self._get_checkpoint(self._iterator_data)
        if filename is not None:
            files.write(filename, text)
        return text

    def _get_checkpoint(self, iterator_data=""):
        return json.dumps({**self._states[0], "iterator": iterator_data})

    def _restore(self, state):
        self._seed, self._batches, self._iterator_data = state["seed"], state["batches"], state["iterator"]
        self._graph.seed = self._seed
        for (node, source), told in zip(self._sources.items(), state["sources"]):
            if hasattr(source, "order") and node.seed is None:
                source.order.seed = self._seed + list(self._sources).index(node)
                source.order.restart()
            source.load(told, self._batch_size)

    @property
    def is_restored_from_checkpoint(self):
        """Return whether the pipeline goes on from a checkpoint."""
        return self._checkpoint is not None

    def serialize(self, *args, **kwargs):
        """Refuse: graphs hold functions of Python's."""
        raise absent("Pipeline.serialize", "graphs are programs of Python; run the program that defines it")

    @classmethod
    def deserialize(cls, *args, **kwargs):
        """Refuse: DALI's own files are not read."""
        raise absent("Pipeline.deserialize", "files of DALI's own; run the program that defines the pipeline")

    deserialize_and_build = deserialize

    def save_graph_to_dot_file(self, filename, **kwargs):
        """Write the graph in Graphviz's language."""
        self.build()
        names = {node: f"n{place}" for place, node in enumerate(self._graph.nodes)}
        lines = [f'  {names[node]} [label="{node.operator.name}"];' for node in names]
        lines += [f"  {names[source]} -> {names[node]};" for node in names for source in node.sources()]
        files.write(filename, "\n".join(["digraph pipeline {", *lines, "}"]) + "\n")

    def __del__(self):
        if getattr(self, "_runner", None) is not None:
            self._runner.close()

    num_outputs = property(lambda self: len(self._outputs or ()), doc="How many outputs there are.")
    batch_size = property(lambda self: self._batch_size, doc="Samples per batch.")
    max_batch_size = batch_size
    num_threads = property(lambda self: self._num_threads, doc="Threads that work on samples.")
    device_id = property(lambda self: None if self._device_id == CPU_ONLY_DEVICE_ID else self._device_id,
                         doc="The device that the program asked for.")
    seed = property(lambda self: self._told_seed, doc="Where random numbers start from, if the program said so.")
    prefetch_queue_depth = property(lambda self: self._depth, doc="How many batches are ahead.")
    cpu_queue_size = gpu_queue_size = prefetch_queue_depth
