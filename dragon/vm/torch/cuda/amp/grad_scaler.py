"""What `torch.cuda.amp` has, under its old path."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.cuda.amp import GradScaler

__getattr__ = module_getattr("torch.cuda.amp.grad_scaler", globals())
