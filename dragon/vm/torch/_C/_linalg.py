"""The compiled functions of `torch.linalg`, by the names that they have in graphs."""
from dragon.vm.torch import linalg as _room
from dragon.vm.torch.core.graphs.naming import compiled_names

globals().update(compiled_names(_room, "linalg_"))
