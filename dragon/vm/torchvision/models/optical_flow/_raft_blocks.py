"""What RAFT is built of: encoders, the recurrent update, and the volume of correlations."""
from dragon.vm import torch
from dragon.vm.torchvision.models.optical_flow._utils import grid_sample
from dragon.vm.torchvision.ops.misc import Conv2dNormActivation

nn, F = torch.nn, torch.nn.functional


def _around(in_channels, out_channels, norm_layer, stride):
    return Conv2dNormActivation(in_channels, out_channels, norm_layer=norm_layer, kernel_size=1, stride=stride,
                                bias=True, activation_layer=None)


class ResidualBlock(nn.Module):
    """Two convolutions around which the input is led.

    Parameters
    ----------
    in_channels, out_channels : int
        The channels.
    norm_layer : Callable
        The class of normalizations.
    stride : int, optional, default=1
        Of the first convolution.
    always_project : bool, optional, default=False
        Whether the input passes a convolution even where nothing changes.

    """

    def __init__(self, in_channels, out_channels, *, norm_layer, stride=1, always_project=False):
        super().__init__()
        options = {"norm_layer": norm_layer, "kernel_size": 3, "bias": True}
        self.convnormrelu1 = Conv2dNormActivation(in_channels, out_channels, stride=stride, **options)
        self.convnormrelu2 = Conv2dNormActivation(out_channels, out_channels, **options)
        plain = stride == 1 and not always_project
        self.downsample = nn.Identity() if plain else _around(in_channels, out_channels, norm_layer, stride)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.downsample(x) + self.convnormrelu2(self.convnormrelu1(x)))


class BottleneckBlock(nn.Module):
    """A convolution in fewer channels around which the input is led.

    Parameters
    ----------
    in_channels, out_channels : int
        The channels.
    norm_layer : Callable
        The class of normalizations.
    stride : int, optional, default=1
        Of the convolution.

    """

    def __init__(self, in_channels, out_channels, *, norm_layer, stride=1):
        super().__init__()
        few, options = out_channels // 4, {"norm_layer": norm_layer, "bias": True}
        self.convnormrelu1 = Conv2dNormActivation(in_channels, few, kernel_size=1, **options)
        self.convnormrelu2 = Conv2dNormActivation(few, few, kernel_size=3, stride=stride, **options)
        self.convnormrelu3 = Conv2dNormActivation(few, out_channels, kernel_size=1, **options)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = nn.Identity() if stride == 1 else _around(in_channels, out_channels, norm_layer, stride)

    def forward(self, x):
        return self.relu(self.downsample(x) + self.convnormrelu3(self.convnormrelu2(self.convnormrelu1(x))))


class FeatureEncoder(nn.Module):
    """Features of an image, an eighth as high and as wide.

    Parameters
    ----------
    block : Callable, optional
        The class of blocks.
    layers : Sequence[int], optional
        The channels of the five stages.
    strides : Sequence[int], optional
        Of the first four.
    norm_layer : Callable, optional
        The class of normalizations.

    """

    def __init__(self, *, block=ResidualBlock, layers=(64, 64, 96, 128, 256), strides=(2, 1, 2, 2),
                 norm_layer=nn.BatchNorm2d):
        super().__init__()
        if len(layers) != 5:
            raise ValueError(f"The expected number of layers is 5, instead got {len(layers)}")
        self.convnormrelu = Conv2dNormActivation(3, layers[0], norm_layer=norm_layer, kernel_size=7, stride=strides[0],
                                                 bias=True)
        for index in (1, 2, 3):
            setattr(self, f"layer{index}", nn.Sequential(
                block(layers[index - 1], layers[index], norm_layer=norm_layer, stride=strides[index]),
                block(layers[index], layers[index], norm_layer=norm_layer, stride=1)))
        self.conv = nn.Conv2d(layers[3], layers[4], kernel_size=1)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, (nn.BatchNorm2d, nn.InstanceNorm2d)):
                for parameter, value in ((module.weight, 1), (module.bias, 0)):
                    if parameter is not None:
                        nn.init.constant_(parameter, value)
        self.output_dim = layers[-1]
        self.downsample_factor = 2 ** sum(stride == 2 for stride in strides)

    def forward(self, x):
        return self.conv(self.layer3(self.layer2(self.layer1(self.convnormrelu(x)))))


class MotionEncoder(nn.Module):
    """Features of correlations and of the flow so far.

    Parameters
    ----------
    in_channels_corr : int
        The channels of correlations.
    corr_layers, flow_layers : Sequence[int], optional
        The channels of the convolutions upon each.
    out_channels : int, optional, default=128
        The channels of the result, the flow's two among them.

    """

    def __init__(self, *, in_channels_corr, corr_layers=(256, 192), flow_layers=(128, 64), out_channels=128):
        super().__init__()
        if len(flow_layers) != 2:
            raise ValueError(f"The expected number of flow_layers is 2, instead got {len(flow_layers)}")
        if len(corr_layers) not in (1, 2):
            raise ValueError(f"The number of corr_layers should be 1 or 2, instead got {len(corr_layers)}")

        def convolution(before, after, side):
            return Conv2dNormActivation(before, after, norm_layer=None, kernel_size=side)
        self.convcorr1 = convolution(in_channels_corr, corr_layers[0], 1)
        self.convcorr2 = convolution(*corr_layers, 3) if len(corr_layers) == 2 else nn.Identity()
        self.convflow1 = convolution(2, flow_layers[0], 7)
        self.convflow2 = convolution(*flow_layers, 3)
        self.conv = convolution(corr_layers[-1] + flow_layers[-1], out_channels - 2, 3)
        self.out_channels = out_channels

    def forward(self, flow, corr_features):
        hidden = torch.cat([self.convcorr2(self.convcorr1(corr_features)), self.convflow2(self.convflow1(flow))], dim=1)
        return torch.cat([self.conv(hidden), flow], dim=1)


class ConvGRU(nn.Module):
    """A gated recurrent unit of convolutions."""

    def __init__(self, *, input_size, hidden_size, kernel_size, padding):
        super().__init__()
        for gate in ("convz", "convr", "convq"):
            setattr(self, gate, nn.Conv2d(hidden_size + input_size, hidden_size, kernel_size=kernel_size,
                                          padding=padding))

    def forward(self, h, x):
        both = torch.cat([h, x], dim=1)
        update, reset = torch.sigmoid(self.convz(both)), torch.sigmoid(self.convr(both))
        new = torch.tanh(self.convq(torch.cat([reset * h, x], dim=1)))
        return (1 - update) * h + update * new


def _pass_through_h(h, _):
    return h


class RecurrentBlock(nn.Module):
    """One gated recurrent unit, or two: across, and down.

    Parameters
    ----------
    input_size, hidden_size : int
        The channels that come, and those of the state.
    kernel_size, padding : Sequence, optional
        Of each unit.

    """

    def __init__(self, *, input_size, hidden_size, kernel_size=((1, 5), (5, 1)), padding=((0, 2), (2, 0))):
        super().__init__()
        if len(kernel_size) != len(padding):
            raise ValueError("kernel_size should have the same length as padding, instead got len(kernel_size) = "
                             f"{len(kernel_size)} and len(padding) = {len(padding)}")
        if len(kernel_size) not in (1, 2):
            raise ValueError(f"kernel_size should have one item or two, instead got {len(kernel_size)}")
        units = [ConvGRU(input_size=input_size, hidden_size=hidden_size, kernel_size=kernel, padding=pad)
                 for kernel, pad in zip(kernel_size, padding)]
        self.convgru1 = units[0]
        self.convgru2 = units[1] if len(units) == 2 else _pass_through_h
        self.hidden_size = hidden_size

    def forward(self, h, x):
        return self.convgru2(self.convgru1(h, x), x)


class FlowHead(nn.Module):
    """How the flow changes, from the state."""

    def __init__(self, *, in_channels, hidden_size):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, hidden_size, 3, padding=1)
        self.conv2 = nn.Conv2d(hidden_size, 2, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.conv2(self.relu(self.conv1(x)))


class UpdateBlock(nn.Module):
    """A step: the state after it, and how the flow changes."""

    def __init__(self, *, motion_encoder, recurrent_block, flow_head):
        super().__init__()
        self.motion_encoder, self.recurrent_block, self.flow_head = motion_encoder, recurrent_block, flow_head
        self.hidden_state_size = recurrent_block.hidden_size

    def forward(self, hidden_state, context, corr_features, flow):
        x = torch.cat([context, self.motion_encoder(flow, corr_features)], dim=1)
        hidden_state = self.recurrent_block(hidden_state, x)
        return hidden_state, self.flow_head(hidden_state)


class MaskPredictor(nn.Module):
    """The weights with which a flow is made larger."""

    def __init__(self, *, in_channels, hidden_size, multiplier=0.25):
        super().__init__()
        self.convrelu = Conv2dNormActivation(in_channels, hidden_size, norm_layer=None, kernel_size=3)
        self.conv = nn.Conv2d(hidden_size, 8 * 8 * 9, 1, padding=0)
        self.multiplier = multiplier

    def forward(self, x):
        return self.multiplier * self.conv(self.convrelu(x))


class CorrBlock(nn.Module):
    """The correlations of each place of an image with those of another, at several scales.

    Parameters
    ----------
    num_levels : int, optional, default=4
        The scales.
    radius : int, optional, default=4
        How far around a place correlations are looked at.

    """

    def __init__(self, *, num_levels=4, radius=4):
        super().__init__()
        self.num_levels, self.radius = num_levels, radius
        self.corr_pyramid = [torch.tensor(0)]
        self.out_channels = num_levels * (2 * radius + 1) ** 2

    def build_pyramid(self, fmap1, fmap2):
        """Note the correlations of two images' features."""
        if fmap1.shape != fmap2.shape:
            raise ValueError("Input feature maps should have the same shape, instead got "
                             f"{fmap1.shape} (fmap1.shape) != {fmap2.shape} (fmap2.shape)")
        least = 2 * 2 ** (self.num_levels - 1)
        if any(size < least for size in fmap1.shape[-2:]):
            raise ValueError(f"CorrBlock: got features of height and width {tuple(fmap1.shape[-2:])}, expected at "
                             f"least {least}: images of at least {8 * least}, an eighth of which they are")
        volume = self._compute_corr_volume(fmap1, fmap2)
        self.corr_pyramid = [volume.reshape(-1, *volume.shape[3:])]
        for _ in range(self.num_levels - 1):
            self.corr_pyramid.append(F.avg_pool2d(self.corr_pyramid[-1], kernel_size=2, stride=2))

    def index_pyramid(self, centroids_coords):
        """Return the correlations around places, of all scales."""
        steps = torch.linspace(-self.radius, self.radius, 2 * self.radius + 1)
        around = torch.stack(torch.meshgrid(steps, steps, indexing="ij"), dim=-1).to(centroids_coords.device)[None]
        batch, _, height, width = centroids_coords.shape
        centres, found = centroids_coords.permute(0, 2, 3, 1).reshape(-1, 1, 1, 2), []
        for level, volume in enumerate(self.corr_pyramid):
            at = centres / 2 ** level + around
            found.append(grid_sample(volume, at, align_corners=True, mode="bilinear").view(batch, height, width, -1))
        features = torch.cat(found, dim=-1).permute(0, 3, 1, 2).contiguous()
        wanted = (batch, self.out_channels, height, width)
        if tuple(features.shape) != wanted:
            raise ValueError(f"Output shape of index pyramid is incorrect. Should be {wanted}, got {features.shape}")
        return features

    def _compute_corr_volume(self, fmap1, fmap2):
        batch, channels, height, width = fmap1.shape
        volume = torch.matmul(fmap1.view(batch, channels, -1).transpose(1, 2), fmap2.view(batch, channels, -1))
        return volume.view(batch, height, width, 1, height, width) / torch.sqrt(torch.tensor(channels))
