"""What libraries ask of PyTorch's tracer of Python code, which is not there: code runs as it stands."""
from dragon.vm.torch._dynamo import config, eval_frame
from dragon.vm.torch._dynamo.eval_frame import OptimizedModule, is_dynamo_supported
from dragon.vm.torch.compiler import (allow_in_graph, assume_constant_result, disable, is_compiling, list_backends,
                                      reset, set_stance)
from dragon.vm.torch.core.missing import module_getattr


def graph_break(msg=""):
    """Do nothing: there is no graph to break."""


def mark_dynamic(t, index, **options):
    """Do nothing: all sizes are dynamic."""


mark_static = maybe_mark_dynamic = mark_static_address = mark_dynamic
forbid_in_graph = disallow_in_graph = allow_in_graph
__getattr__ = module_getattr("torch._dynamo", globals())
