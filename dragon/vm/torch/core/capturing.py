"""The facts about modules, optimizers and the switches of `torch` that captured graphs take for granted."""
from dragon.core.capture.rules import Rules
from dragon.vm.torch.autograd.grad_mode import is_inference_mode_enabled
from dragon.vm.torch.core.device import default_device
from dragon.vm.torch.core.functions import settings
from dragon.vm.torch.nn import Module
from dragon.vm.torch.nn.modules import _hooks

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_GLOBAL_HOOKS = ("_global_forward_hooks", "_global_forward_pre_hooks", "_global_backward_hooks",
                 "_global_backward_pre_hooks")


def register():
    """Tell the guards; done once, when `torch` is imported."""
    Rules.always[Module] = frozenset((
        "training", "_parameters", "_buffers", "_modules", "_compiled_call_impl", *_HOOKS))
    Rules.never[Module] = frozenset((
        "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
        "_non_persistent_buffers_set", "_forward_hooks_with_kwargs", "_forward_hooks_always_called",
        "_forward_pre_hooks_with_kwargs"))
    Rules.roots |= set(Module.__mro__)
    Rules.switches += [("inference mode", is_inference_mode_enabled), ("default device", default_device)]
    Rules.globals += [("torch.nn", vars(_hooks), _GLOBAL_HOOKS),
                      ("torch", settings._state, ("deterministic", "matmul", "fill"))]
