"""Mixed precision: `torch.amp`."""
from dragon.vm.torch.amp.autocast_mode import (_enter_autocast, _exit_autocast, autocast, custom_bwd,  # noqa: F401
                                               custom_fwd, is_autocast_available)
from dragon.vm.torch.amp.grad_scaler import GradScaler  # noqa: F401
