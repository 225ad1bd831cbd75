"""The compiled functions of `torch.special`, by the names that they have in graphs."""
from dragon.vm.torch import special as _room
from dragon.vm.torch.core.graphs.naming import compiled_names

globals().update(compiled_names(_room, "special_"))
