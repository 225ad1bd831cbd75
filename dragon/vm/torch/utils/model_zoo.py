"""The old place of `torch.hub`'s download functions."""
from dragon.vm.torch.hub import load_state_dict_from_url as load_url  # noqa: F401
