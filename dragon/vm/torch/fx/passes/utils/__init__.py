"""Tools of passes: finding parts of graphs, and making modules of them."""
from dragon.vm.torch.fx.passes.utils.common import HolderModule, compare_graphs, lift_subgraph_as_module
