"""Gradients: `torch.autograd`."""
from dragon.vm.torch.autograd import forward_ad, functional, graph
from dragon.vm.torch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from dragon.vm.torch.autograd.function import Function
from dragon.vm.torch.autograd.grad_mode import (_force_original_view_tracking, _unsafe_preserve_version_counter,
                                                enable_grad, enforce_grad_layout_policy, inference_mode, no_grad,
                                                set_grad_enabled, set_multithreading_enabled)
from dragon.vm.torch.autograd.gradcheck import gradcheck, gradgradcheck
from dragon.vm.torch.autograd.variable import Variable
from dragon.vm.torch.core.gradients import backward, grad


def variable(*args, **kwargs):
    """Say what has taken its place."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")
