"""Blocks that models are built from."""
from collections.abc import Sequence

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch.nn.modules._applied import Keeping

nn = torch.nn
interpolate = nn.functional.interpolate


class FrozenBatchNorm2d(nn.Module):
    """Batch normalization whose statistics and parameters stay as they are.

    Parameters
    ----------
    num_features : int
        The channels.
    eps : float, optional, default=1e-05
        Added to the variance.

    """

    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        for name, make in (("weight", torch.ones), ("bias", torch.zeros), ("running_mean", torch.zeros),
                           ("running_var", torch.ones)):
            self.register_buffer(name, make(num_features))

    def _load_from_state_dict(self, state_dict, prefix, *args):
        state_dict.pop(prefix + "num_batches_tracked", None)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def forward(self, x):
        weight, bias, mean, var = (value.reshape(1, -1, 1, 1) for value in (
            self.weight, self.bias, self.running_mean, self.running_var))
        scale = weight * (var + self.eps).rsqrt()
        return x * scale + (bias - mean * scale)

    def __repr__(self):
        return f"{self.__class__.__name__}({self.weight.shape[0]}, eps={self.eps})"


def _tuple_of(value, count):
    return tuple(value) if isinstance(value, Sequence) else (value,) * count


class ConvNormActivation(nn.Sequential):
    """A convolution, a normalization and an activation; either of the last two may be None.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, groups, dilation, bias
        Of the convolution; `padding=None` keeps the size, `bias=None` adds one where nothing normalizes.
    norm_layer, activation_layer, conv_layer : Callable, optional
        The classes.
    inplace : bool, optional, default=True
        Given to the activation unless None.

    """

    def __init__(self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1,
                 norm_layer=nn.BatchNorm2d, activation_layer=nn.ReLU, dilation=1, inplace=True, bias=None,
                 conv_layer=nn.Conv2d):
        if padding is None:
            if isinstance(kernel_size, int) and isinstance(dilation, int):
                padding = (kernel_size - 1) // 2 * dilation
            else:
                rank = len(kernel_size) if isinstance(kernel_size, Sequence) else len(dilation)
                kernel_size, dilation = _tuple_of(kernel_size, rank), _tuple_of(dilation, rank)
                padding = tuple((size - 1) // 2 * step for size, step in zip(kernel_size, dilation))
        layers = [conv_layer(in_channels, out_channels, kernel_size, stride, padding, dilation=dilation,
                             groups=groups, bias=norm_layer is None if bias is None else bias)]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer(**({} if inplace is None else {"inplace": inplace})))
        super().__init__(*layers)
        self.out_channels = out_channels
        if self.__class__ is ConvNormActivation:
            warnings.warn("Don't use ConvNormActivation directly, please use Conv2dNormActivation and "
                          "Conv3dNormActivation instead.")


class Conv2dNormActivation(ConvNormActivation):
    """A convolution of images, a normalization and an activation."""

    def __init__(self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1,
                 norm_layer=nn.BatchNorm2d, activation_layer=nn.ReLU, dilation=1, inplace=True, bias=None):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, groups, norm_layer,
                         activation_layer, dilation, inplace, bias, nn.Conv2d)


class Conv3dNormActivation(ConvNormActivation):
    """A convolution of volumes, a normalization and an activation."""

    def __init__(self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1,
                 norm_layer=nn.BatchNorm3d, activation_layer=nn.ReLU, dilation=1, inplace=True, bias=None):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, groups, norm_layer,
                         activation_layer, dilation, inplace, bias, nn.Conv3d)


class SqueezeExcitation(nn.Module):
    """Weigh channels by what their means say.

    Parameters
    ----------
    input_channels, squeeze_channels : int
        The channels, and those between the two layers.
    activation, scale_activation : Callable, optional
        The activation between them, and the last.

    """

    def __init__(self, input_channels, squeeze_channels, activation=nn.ReLU, scale_activation=nn.Sigmoid):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def _scale(self, input):
        return self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(input)))))

    def forward(self, input):
        return self._scale(input) * input


class MLP(nn.Sequential):
    """Linear layers with normalization, activation and dropout between.

    Parameters
    ----------
    in_channels : int
        The features that come.
    hidden_channels : List[int]
        The features after each layer.
    norm_layer, activation_layer : Callable, optional
        The classes.
    inplace : bool, optional
        Given to activation and dropout unless None.
    bias : bool, optional, default=True
        Whether the layers add one.
    dropout : float, optional, default=0.0
        The probability of zeroing.

    """

    def __init__(self, in_channels, hidden_channels, norm_layer=None, activation_layer=nn.ReLU, inplace=None,
                 bias=True, dropout=0.0):
        params = {} if inplace is None else {"inplace": inplace}
        layers, before = [], in_channels
        for index, features in enumerate(hidden_channels):
            layers.append(nn.Linear(before, features, bias=bias))
            if index < len(hidden_channels) - 1:
                if norm_layer is not None:
                    layers.append(norm_layer(features))
                layers.append(activation_layer(**params))
            layers.append(nn.Dropout(dropout, **params))
            before = features
        super().__init__(*layers)


class Permute(Keeping, takes="dims"):
    """Put axes into another order.

    Parameters
    ----------
    dims : List[int]
        The order.

    """

    def forward(self, x):
        return torch.permute(x, self.dims)
