"""`keras.device`: where tensors and variables are made."""


def device(device_name):
    """Return a scope in which tensors and variables are made on a device.

    Parameters
    ----------
    device_name : str
        "cpu", "gpu", or with a number: "gpu:0".

    """
    from dragon.vm.shared.tensors.devices import device as scope
    return scope(device_name)
