"""What test suites ask of PyTorch's tracer before they compile."""
from dragon.vm import torch
from dragon.vm.torch._dynamo.eval_frame import is_dynamo_supported


def is_compile_supported(device_type):
    """Return whether functions can be compiled for a kind of device.

    Parameters
    ----------
    device_type : Union[str, int, torch.device]
        The device.

    Returns
    -------
    bool
        True for the CPU.

    """
    return torch.device(device_type).type == "cpu" and is_dynamo_supported()
