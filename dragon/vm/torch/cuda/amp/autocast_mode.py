"""What `torch.cuda.amp` has, under its old path."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.cuda.amp import autocast, custom_bwd, custom_fwd

__getattr__ = module_getattr("torch.cuda.amp.autocast_mode", globals())
