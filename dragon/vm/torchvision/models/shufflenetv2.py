"""ShuffleNet, second version."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define

nn = torch.nn


def channel_shuffle(x: torch.Tensor, groups: int) -> torch.Tensor:
    """Return an image with the channels of groups interleaved."""
    n, channels, height, width = x.shape
    return x.view(n, groups, channels // groups, height, width).transpose(1, 2).reshape(n, channels, height, width)


def _pointwise(before, after):
    return [nn.Conv2d(before, after, kernel_size=1, stride=1, padding=0, bias=False), nn.BatchNorm2d(after),
            nn.ReLU(inplace=True)]


class InvertedResidual(nn.Module):
    """Half of the channels go through, half around; then they are shuffled."""

    def __init__(self, inp, oup, stride):
        super().__init__()
        if not 1 <= stride <= 3:
            raise ValueError("illegal stride value")
        self.stride, half = stride, oup // 2
        if stride == 1 and inp != half << 1:
            raise ValueError(f"Invalid combination of stride {stride}, inp {inp} and oup {oup} values. If stride == 1 "
                             "then inp should be equal to oup // 2 << 1.")
        self.branch1 = nn.Sequential() if stride == 1 else nn.Sequential(
            self.depthwise_conv(inp, inp, kernel_size=3, stride=stride, padding=1), nn.BatchNorm2d(inp),
            *_pointwise(inp, half))
        self.branch2 = nn.Sequential(
            *_pointwise(inp if stride > 1 else half, half),
            self.depthwise_conv(half, half, kernel_size=3, stride=stride, padding=1), nn.BatchNorm2d(half),
            *_pointwise(half, half))

    @staticmethod
    def depthwise_conv(i, o, kernel_size, stride=1, padding=0, bias=False):
        """Return a convolution of each channel by itself."""
        return nn.Conv2d(i, o, kernel_size, stride, padding, bias=bias, groups=i)

    def forward(self, x):
        if self.stride == 1:
            around, through = x.chunk(2, dim=1)
            out = torch.cat((around, self.branch2(through)), dim=1)
        else:
            out = torch.cat((self.branch1(x), self.branch2(x)), dim=1)
        return channel_shuffle(out, 2)


class ShuffleNetV2(nn.Module):
    """ShuffleNet, second version.

    Parameters
    ----------
    stages_repeats : List[int]
        The blocks of the three stages.
    stages_out_channels : List[int]
        The channels after each of the five parts.
    inverted_residual : Callable, optional
        The class of blocks.

    """

    def __init__(self, stages_repeats, stages_out_channels, num_classes=1000, inverted_residual=InvertedResidual):
        super().__init__()
        if len(stages_repeats) != 3:
            raise ValueError("expected stages_repeats as list of 3 positive ints")
        if len(stages_out_channels) != 5:
            raise ValueError("expected stages_out_channels as list of 5 positive ints")
        self._stage_out_channels = stages_out_channels
        width = stages_out_channels[0]
        self.conv1 = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width),
                                   nn.ReLU(inplace=True))
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        for index, (repeats, after) in enumerate(zip(stages_repeats, stages_out_channels[1:])):
            blocks = [inverted_residual(width, after, 2)]
            blocks += [inverted_residual(after, after, 1) for _ in range(repeats - 1)]
            setattr(self, f"stage{index + 2}", nn.Sequential(*blocks))
            width = after
        self.conv5 = nn.Sequential(*_pointwise(width, stages_out_channels[-1]))
        self.fc = nn.Linear(stages_out_channels[-1], num_classes)

    def _forward_impl(self, x):
        x = self.stage4(self.stage3(self.stage2(self.maxpool(self.conv1(x)))))
        return self.fc(self.conv5(x).mean([2, 3]))

    def forward(self, x):
        return self._forward_impl(x)


for _factor, _channels in (("0_5", [24, 48, 96, 192, 1024]), ("1_0", [24, 116, 232, 464, 1024]),
                           ("1_5", [24, 176, 352, 704, 1024]), ("2_0", [24, 244, 488, 976, 2048])):
    define(globals(), f"shufflenet_v2_x{_factor}", f"ShuffleNet_V2_X{_factor}",
           partial(ShuffleNetV2, [4, 8, 4], _channels))
