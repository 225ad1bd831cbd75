"""Graphs of CUDA devices."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.cuda import (CUDAGraph, graph, graph_pool_handle, is_current_stream_capturing,
                                  make_graphed_callables)

__getattr__ = module_getattr("torch.cuda.graphs", globals())
