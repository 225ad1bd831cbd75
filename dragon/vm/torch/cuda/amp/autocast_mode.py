"""The names of `torch.cuda.amp`, under its old path."""
from dragon.vm.torch.cuda.amp import autocast, custom_bwd, custom_fwd
