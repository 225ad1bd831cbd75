"""Set the order in memory of the weights of convolutions alone."""
from dragon.vm.torch.nn.modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d


def _convert(module, memory_format, kinds):
    for layer in module.modules():
        if isinstance(layer, kinds):
            layer.weight.data = layer.weight.detach().clone().contiguous(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module, memory_format):
    """Set the memory format of the weights of all convolutions over two axes; returns the module."""
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module, memory_format):
    """Set the memory format of the weights of all convolutions over three axes; returns the module."""
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
