"""Low-rank decompositions under the module that PyTorch keeps them in."""
from dragon.vm.torch.core.functions.matrix import pca_lowrank, svd_lowrank  # noqa: F401
