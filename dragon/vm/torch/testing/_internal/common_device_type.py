"""Tests for every device and dtype: `torch.testing._internal.common_device_type`."""
from dragon.vm.torch.testing._internal._device_decorators import *  # noqa: F401, F403
from dragon.vm.torch.testing._internal._devices import *  # noqa: F401, F403
