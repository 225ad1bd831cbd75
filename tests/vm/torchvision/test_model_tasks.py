"""Models of segments, videos, flows, and those that may be quantized, made small, beside genuine torchvision's."""
import importlib

import genuine
import pytest
import torch
from compare import mine, same, seeded

tv = genuine.load()
from torchvision.models._api import BUILTIN_MODELS  # noqa: E402

from dragon.vm import torch as dt  # noqa: E402
from dragon.vm.torchvision import models  # noqa: E402

numbers = torch.Generator().manual_seed(3)


def part(side, name):
    root = "torchvision.models" if side is tv else "dragon.vm.torchvision.models"
    return importlib.import_module(f"{root}.{name}")


def swin(side):
    make = part(side, "video.swin_transformer").SwinTransformer3d
    return make([1, 2, 2], 8, [2, 2], [2, 4], [4, 3, 3], num_classes=5)


def mvit(side, pooled, relative):
    m = part(side, "video.mvit")
    settings = [m.MSBlockConfig(1, 8, 16, [3, 3, 3] if relative else [], [3, 3, 3], [1, 1, 1] if relative else [],
                                [1, 2, 2]),
                m.MSBlockConfig(2, 16, 16, [3, 3, 3], [3, 3, 3], [1, 2, 2], [1, 1, 1])]
    return m.MViT((16, 16), 4, settings, pooled, pooled and not relative, relative, relative, num_classes=5)


def inception(side):
    library = torch if side is tv else dt
    return part(side, "video.s3d").SepInceptionBlock3D(6, 2, 3, 4, 2, 3, 2, library.nn.BatchNorm3d)


VIDEOS = {"swin3d": (swin, (1, 3, 5, 9, 10)), "s3d": (inception, (1, 6, 3, 5, 6)),
          "mvit v1": (lambda side: mvit(side, False, False), (1, 3, 4, 16, 16)),
          "mvit v2": (lambda side: mvit(side, True, True), (1, 3, 4, 16, 16)),
          "mvit pooled": (lambda side: mvit(side, True, False), (1, 3, 4, 16, 16))}


def beside(make, *images, grads=True, atol=1e-5, **options):
    """Hold a model beside the genuine one: parameters, results, gradients."""
    ours, theirs = seeded(1, make, models), seeded(1, make, tv)
    assert repr(ours) == repr(theirs)
    same(dict(ours.state_dict()), dict(theirs.state_dict()))
    wanted, found = theirs.eval()(*images, **options), ours.eval()(*mine(list(images)), **options)
    same(found, wanted, 1e-4, atol)
    if not grads:
        return
    for result in (found, wanted):
        parts = list(result.values()) if isinstance(result, dict) else result if isinstance(result, list) else [result]
        sum(item.square().mean() for item in parts).backward()
    gradients = dict(ours.named_parameters())
    for key, parameter in theirs.named_parameters():
        if parameter.grad is not None:
            same(gradients[key].grad, parameter.grad, 1e-3, 1e-4)


@pytest.mark.parametrize("name", VIDEOS)
def test_videos(name):
    make, shape = VIDEOS[name]
    beside(make, torch.rand(shape, generator=numbers))


@pytest.mark.parametrize("maker", ("Conv3DSimple", "Conv3DNoTemporal", "Conv2Plus1D"))
def test_video_stages(maker):
    m, theirs = part(models, "video.resnet"), part(tv, "video.resnet")
    for block in ("BasicBlock", "Bottleneck"):
        made = [seeded(2, lambda: getattr(library, block)(8 * getattr(library, block).expansion, 8,
                                                          getattr(library, maker))) for library in (m, theirs)]
        assert repr(made[0]) == repr(made[1])
        same(dict(made[0].state_dict()), dict(made[1].state_dict()))
        x = torch.rand(1, 8 * made[1].expansion, 3, 6, 6, generator=numbers)
        same(made[0].eval()(mine(x)), made[1].eval()(x), 1e-4, 1e-5)
        assert getattr(m, maker).get_downsample_stride(2) == getattr(theirs, maker).get_downsample_stride(2)


HEADS = {
    "fcn": lambda side: part(side, "segmentation.fcn").FCNHead(8, 3),
    "deeplab": lambda side: part(side, "segmentation.deeplabv3").DeepLabHead(8, 3, (1, 2, 3)),
}


@pytest.mark.parametrize("name", HEADS)
def test_heads_of_segments(name):
    beside(HEADS[name], torch.rand(2, 8, 9, 7, generator=numbers))


def test_segments():
    def make(side):
        make = models.get_model if side is models else lambda name, **options: BUILTIN_MODELS[name](**options)
        return make("lraspp_mobilenet_v3_large", weights=None, weights_backbone=None, num_classes=3)
    beside(make, torch.rand(1, 3, 33, 40, generator=numbers), grads=False)
    with pytest.raises(NotImplementedError):
        models.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, aux_loss=True)


def test_flows():
    # What two steps of a network round is made eight times as large.
    images = torch.rand(2, 1, 3, 128, 136, generator=torch.Generator().manual_seed(5))
    beside(lambda side: side.optical_flow.raft_small() if side is models else BUILTIN_MODELS["raft_small"](), *images,
           grads=False, atol=1e-4, num_flow_updates=2)
    ours, theirs = (part(side, "optical_flow._utils") for side in (models, tv))
    flow, mask = torch.rand(1, 2, 3, 4, generator=numbers), torch.rand(1, 576, 3, 4, generator=numbers)
    for given in (None, mask):
        same(ours.upsample_flow(mine(flow), mine(given)), theirs.upsample_flow(flow, given), 1e-5, 1e-5)
    for wrong in ((torch.rand(1, 3, 130, 128),) * 2, (torch.rand(1, 3, 128, 128), torch.rand(1, 3, 128, 136)),
                  (torch.rand(1, 3, 64, 64),) * 2):
        with pytest.raises(ValueError):
            models.optical_flow.raft_small()(*mine(list(wrong)))


@pytest.mark.parametrize("name", ("shufflenet_v2_x0_5", "mobilenet_v2", "mobilenet_v3_large", "resnet18"))
def test_what_may_be_quantized(name):
    def make(side):
        function = BUILTIN_MODELS[f"quantized_{name}"] if side is tv else getattr(models.quantization, name)
        return function(num_classes=4)
    beside(make, torch.rand(1, 3, 40, 40, generator=numbers), grads=False)
    with pytest.raises(NotImplementedError, match="quantize"):
        getattr(models.quantization, name)(quantize=True)


def test_blocks_that_may_be_quantized():
    for module, name, channels, options in (
            ("googlenet", "QuantizableInception", 4, (4, 2, 3, 4, 2, 3, 4)),
            ("inception", "QuantizableInceptionA", 3, (3, 5)), ("inception", "QuantizableInceptionE", 3, (3,)),
            ("resnet", "QuantizableBottleneck", 16, (16, 4))):
        beside(lambda side: getattr(part(side, f"quantization.{module}"), name)(*options),
               torch.rand(1, channels, 9, 9, generator=numbers))
