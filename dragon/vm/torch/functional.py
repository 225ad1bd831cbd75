"""`torch.functional`: the functions that PyTorch writes in Python, under their second name."""
from dragon.vm.torch.core.register import FUNCTIONS as _functions

globals().update((_name, _functions[_name]) for _name in """
atleast_1d atleast_2d atleast_3d align_tensors broadcast_shapes broadcast_tensors cartesian_prod block_diag cdist
chain_matmul einsum istft lu norm meshgrid pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive
unravel_index
""".split() if _name in _functions)
