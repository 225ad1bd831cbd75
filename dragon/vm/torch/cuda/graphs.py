"""Graphs of CUDA devices: a stream's work noted down once, and done again as a whole, in memory of its own."""
import gc

from dragon import _C
from dragon.core import accelerator, config
from dragon.vm.torch.core.nvidia.presence import place, require, require_for_class
from dragon.vm.torch.cuda.memory import empty_cache
from dragon.vm.torch.cuda.streams import Stream, current_stream, is_current_stream_capturing, stream  # noqa: F401

MODES = {"global": 0, "thread_local": 1, "relaxed": 2}


def graph_pool_handle():
    """Return a token for memory that several graphs share."""
    require("graph_pool_handle")
    return (0, accelerator.new_pool())


class CUDAGraph:
    """Work that was noted down on a stream.

    Tensors that a graph reads and writes keep their places: fill the inputs anew, `replay()`, and read the outputs.
    Random numbers are new in each run: those that as many calls outside of a graph would have drawn.

    Parameters
    ----------
    keep_graph : bool, optional, default=False
        Kept graphs are the same here: `debug_dump` writes any.

    """

    def __init__(self, keep_graph=False):
        require_for_class("CUDAGraph")
        self._graph, self._pool, self._index, self._before = _C.DeviceGraph(), None, None, None

    def capture_begin(self, pool=None, capture_error_mode="global"):
        """Note down what the current stream is given, which must not be the default one."""
        if capture_error_mode not in MODES:
            raise RuntimeError(f"Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got "
                               f"{capture_error_mode}")
        current = current_stream()
        if current.cuda_stream == accelerator.default_stream(current.device_index):
            raise RuntimeError("CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok "
                               "to replay them on the default stream.)")
        self._graph.reset()
        self._release()
        self._index, self._pool = current.device_index, (graph_pool_handle() if pool is None else pool)[1]
        accelerator.hold_pool(self._index, self._pool)
        try:
            self._graph.begin(self._index, current.cuda_stream, MODES[capture_error_mode])
        except BaseException:
            self._release()
            raise
        self._before = accelerator.use_pool(self._pool)

    def capture_end(self):
        """End the capture, and make the graph ready to run."""
        if self._before is None:
            raise RuntimeError("CUDAGraph.capture_end: got a graph that is not being captured, expected capture_begin "
                               "first")
        accelerator.use_pool(*self._before)
        self._before = None
        self._graph.end()

    def register_generator_state(self, generator):
        """Have random calls of the capture draw from a generator of one's own, and so every run of the graph.

        Parameters
        ----------
        generator : Generator
            The generator; the default one is known.

        """
        self._graph.register(generator)

    def instantiate(self):
        """Do nothing: `capture_end` made the graph ready."""

    def replay(self):
        """Do the work again, on the current stream."""
        self._graph.launch()

    def pool(self):
        """Return the token of the graph's memory."""
        if self._pool is None:
            raise RuntimeError("CUDAGraph.pool: got an empty graph, expected a capture first")
        return (0, self._pool)

    def _release(self):
        if self._pool is not None:
            accelerator.release_pool(self._index, self._pool)
            self._pool = None

    def reset(self):
        """Forget what was noted down; its memory may go to others once no tensor uses it."""
        self._graph.reset()
        self._release()

    def enable_debug_mode(self):
        """Do nothing: any graph can be written."""

    def debug_dump(self, debug_path):
        """Write the graph as text for Graphviz."""
        self._graph.dump(str(debug_path))

    def __del__(self):
        if getattr(self, "_pool", None) is not None:
            self._release()


CUDAGraph.__module__ = "torch.cuda"


class graph:
    """Note down in a graph what a `with` block does on a stream.

    Parameters
    ----------
    cuda_graph : CUDAGraph
        The graph.
    pool : tuple, optional
        The token of memory to share with another graph.
    stream : Stream, optional
        The stream; by default one that all captures share.
    capture_error_mode : str, optional, default="global"
        Whose unsafe calls are errors meanwhile: "global", "thread_local" or "relaxed".

    """

    default_capture_stream = None

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        require_for_class("graph")
        if stream is None:
            graph.default_capture_stream = graph.default_capture_stream or Stream()
            stream = graph.default_capture_stream
        self.capture_stream, self.cuda_graph = stream, cuda_graph
        self._pool, self._mode, self._within = pool, capture_error_mode, None

    def __enter__(self):
        config.synchronize(place())
        gc.collect()
        empty_cache()
        self._within = stream(self.capture_stream)
        self._within.__enter__()
        try:
            self.cuda_graph.capture_begin(self._pool, self._mode)
        except BaseException:
            self._within.__exit__()
            raise

    def __exit__(self, *_):
        try:
            self.cuda_graph.capture_end()
        finally:
            self._within.__exit__()
        return False


graph.__module__ = "torch.cuda"
