"""What `torch.cuda.amp` has, under its old path."""
from dragon.vm.torch.cuda.amp import autocast, custom_bwd, custom_fwd
