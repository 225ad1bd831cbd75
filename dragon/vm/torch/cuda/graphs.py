"""Graphs of CUDA devices."""
from dragon.vm.torch.cuda import CUDAGraph, graph, graph_pool_handle, make_graphed_callables
from dragon.vm.torch.cuda.streams import is_current_stream_capturing
