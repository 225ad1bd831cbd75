"""`torch.fx`: programs as graphs of Python, which are looked at, changed, and written as Python again."""
from dragon.vm.torch.fx._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from dragon.vm.torch.fx.graph import CodeGen, Graph
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.fx.interpreter import Interpreter, Transformer
from dragon.vm.torch.fx.node import Node, has_side_effect, map_arg
from dragon.vm.torch.fx.proxy import Proxy
from dragon.vm.torch.fx.subgraph_rewriter import replace_pattern
