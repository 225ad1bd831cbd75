"""Where a model's variables and data are: on one device, by the API that can say more."""
from dragon.vm.keras.distribution.devices import get_device_count, initialize, list_devices
from dragon.vm.keras.distribution.layouts import DeviceMesh, LayoutMap, TensorLayout
from dragon.vm.keras.distribution.strategies import (
    DataParallel, ModelParallel, distribute_tensor, distribution, set_distribution)
