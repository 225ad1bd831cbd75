"""What `torch.cuda.amp` has, under its old path."""
from dragon.vm.torch.cuda.amp import GradScaler
