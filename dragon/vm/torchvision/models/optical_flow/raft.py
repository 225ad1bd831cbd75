"""RAFT: a flow that is corrected step by step from the correlations around it."""
from dragon.vm import torch
from dragon.vm.torchvision.models._api import Choice, publish, weights_enum
from dragon.vm.torchvision.models.optical_flow._raft_blocks import (  # noqa: F401
    BottleneckBlock, ConvGRU, CorrBlock, FeatureEncoder, FlowHead, MaskPredictor, MotionEncoder, RecurrentBlock,
    ResidualBlock, UpdateBlock)
from dragon.vm.torchvision.models.optical_flow._utils import make_coords_grid, upsample_flow

nn, F = torch.nn, torch.nn.functional


class RAFT(nn.Module):
    """A flow from one image to another, corrected step by step.

    Parameters
    ----------
    feature_encoder, context_encoder : Module
        Make features of both images, and of the first.
    corr_block : Module
        Correlates them.
    update_block : Module
        Corrects the flow.
    mask_predictor : Module, optional
        Weighs pixels where the flow is made larger; it is bilinear if None.

    """

    def __init__(self, *, feature_encoder, context_encoder, corr_block, update_block, mask_predictor=None):
        super().__init__()
        self.feature_encoder, self.context_encoder = feature_encoder, context_encoder
        self.corr_block, self.update_block, self.mask_predictor = corr_block, update_block, mask_predictor
        if not hasattr(self.update_block, "hidden_state_size"):
            raise ValueError("The update_block parameter should expose a 'hidden_state_size' attribute.")

    def forward(self, image1, image2, num_flow_updates=12):
        batch, _, height, width = image1.shape
        size = (height // 8, width // 8)
        if (height, width) != tuple(image2.shape[-2:]):
            raise ValueError(f"input images should have the same shape, instead got ({height}, {width}) != "
                             f"{image2.shape[-2:]}")
        if height % 8 or width % 8:
            raise ValueError(f"input image H and W should be divisible by 8, instead got {height} (h) and {width} (w)")
        features = torch.chunk(self.feature_encoder(torch.cat([image1, image2], dim=0)), chunks=2, dim=0)
        if tuple(features[0].shape[-2:]) != size:
            raise ValueError("The feature encoder should downsample H and W by 8")
        self.corr_block.build_pyramid(*features)
        state, context = self._context(image1, size)
        start = make_coords_grid(batch, *size).to(features[0].device)
        at, flows = start, []
        for _ in range(num_flow_updates):
            at = at.detach()  # each step learns for itself
            found = self.corr_block.index_pyramid(centroids_coords=at)
            state, change = self.update_block(state, context, found, at - start)
            at = at + change
            mask = None if self.mask_predictor is None else self.mask_predictor(state)
            flows.append(upsample_flow(flow=at - start, up_mask=mask))
        return flows

    def _context(self, image, size):
        """Return the first state, and what every step knows of the image."""
        features, hidden = self.context_encoder(image), self.update_block.hidden_state_size
        if tuple(features.shape[-2:]) != size:
            raise ValueError("The context encoder should downsample H and W by 8")
        rest = features.shape[1] - hidden
        if rest <= 0:
            raise ValueError(f"The context encoder outputs {features.shape[1]} channels, but it should have at "
                             f"strictly more than hidden_state={hidden} channels")
        state, context = torch.split(features, [hidden, rest], dim=1)
        return torch.tanh(state), F.relu(context)


def _raft(*, encoder_block, feature_layers, context_layers, context_norm, radius, corr_layers, flow_layers,
          motion_channels, hidden_size, kernel_size, padding, flow_hidden, masked, feature_encoder=None,
          context_encoder=None, corr_block=None, update_block=None, mask_predictor=None, **kwargs):
    """Return a RAFT whose parts are as told, but for those that came."""
    feature_encoder = feature_encoder or FeatureEncoder(block=encoder_block, layers=feature_layers,
                                                        norm_layer=nn.InstanceNorm2d)
    context_encoder = context_encoder or FeatureEncoder(block=encoder_block, layers=context_layers,
                                                        norm_layer=context_norm)
    corr_block = corr_block or CorrBlock(num_levels=4, radius=radius)
    if update_block is None:
        motion = MotionEncoder(in_channels_corr=corr_block.out_channels, corr_layers=corr_layers,
                               flow_layers=flow_layers, out_channels=motion_channels)
        recurrent = RecurrentBlock(input_size=motion.out_channels + context_layers[-1] - hidden_size,
                                   hidden_size=hidden_size, kernel_size=kernel_size, padding=padding)
        head = FlowHead(in_channels=hidden_size, hidden_size=flow_hidden)
        update_block = UpdateBlock(motion_encoder=motion, recurrent_block=recurrent, flow_head=head)
    if mask_predictor is None and masked:
        mask_predictor = MaskPredictor(in_channels=hidden_size, hidden_size=256, multiplier=0.25)
    return RAFT(feature_encoder=feature_encoder, context_encoder=context_encoder, corr_block=corr_block,
                update_block=update_block, mask_predictor=mask_predictor, **kwargs)


_LARGE = {"encoder_block": ResidualBlock, "feature_layers": (64, 64, 96, 128, 256),
          "context_layers": (64, 64, 96, 128, 256), "context_norm": nn.BatchNorm2d, "radius": 4,
          "corr_layers": (256, 192), "flow_layers": (128, 64), "motion_channels": 128, "hidden_size": 128,
          "kernel_size": ((1, 5), (5, 1)), "padding": ((0, 2), (2, 0)), "flow_hidden": 256, "masked": True}
_SMALL = {"encoder_block": BottleneckBlock, "feature_layers": (32, 32, 64, 96, 128),
          "context_layers": (32, 32, 64, 96, 160), "context_norm": None, "radius": 3, "corr_layers": (96,),
          "flow_layers": (64, 32), "motion_channels": 82, "hidden_size": 96, "kernel_size": (3,), "padding": (1,),
          "flow_hidden": 128, "masked": False}


def _define(name, enum_name, parts, meant):
    enum = globals().setdefault(enum_name, weights_enum(enum_name))

    def call(weights, progress, **kwargs):
        model = _raft(**parts, **kwargs)
        if weights is not None:
            model.load_state_dict(weights.get_state_dict(progress=progress, check_hash=True))
        return model
    publish(globals(), name, call, {"weights": Choice(enum, member=meant), "progress": True})


_define("raft_large", "Raft_Large_Weights", _LARGE, "C_T_SKHT_V2")
_define("raft_small", "Raft_Small_Weights", _SMALL, "C_T_V2")
