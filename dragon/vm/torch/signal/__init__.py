"""`torch.signal`: windows for signals."""
from dragon.vm.torch.signal import windows
