"""Graphs of CUDA devices."""
from dragon.vm.torch.cuda import (CUDAGraph, graph, graph_pool_handle, is_current_stream_capturing,
                                  make_graphed_callables)
