"""What libraries ask of PyTorch's tracer of Python code; here calls are captured at the engine's door."""
from dragon.vm.torch._dynamo import config, eval_frame
from dragon.vm.torch._dynamo.eval_frame import OptimizedModule, is_dynamo_supported
from dragon.vm.torch.compiler import (allow_in_graph, assume_constant_result, disable, is_compiling, list_backends,
                                      reset, set_stance)
from dragon.vm.torch.core.compiled import compile as _compile, explain, graph_break
from dragon.vm.torch.core.missing import module_getattr


def mark_dynamic(t, index, **options):
    """Do nothing: which sizes vary is found out by itself."""


mark_static = maybe_mark_dynamic = mark_static_address = mark_dynamic
forbid_in_graph = disallow_in_graph = allow_in_graph


def optimize(backend="inductor", *, nopython=False, dynamic=None, disable=False, **options):
    """Return a decorator that compiles, as `torch.compile` does."""
    return _compile(backend=backend, fullgraph=nopython, dynamic=dynamic, disable=disable)


run = disable
__getattr__ = module_getattr("torch._dynamo", globals())
