"""The layer that mixes groups of channels."""
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.module import Module


class ChannelShuffle(Module):
    """Take channels from each of the groups in turn."""

    __constants__ = ["groups"]

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        """Return the input with its channels mixed."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self):
        """Return the number of groups as text."""
        return f"groups={self.groups}"
