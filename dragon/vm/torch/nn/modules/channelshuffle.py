"""The layer that mixes groups of channels."""
from dragon.vm.torch.nn.modules._applied import Applied


class ChannelShuffle(Applied, call="channel_shuffle(input; groups)"):
    """Take channels from each of the groups in turn."""
