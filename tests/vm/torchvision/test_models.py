"""Models beside genuine torchvision: the same seed makes the same parameters, and they the same results."""
import inspect
import warnings
from operator import attrgetter

import genuine
import pytest
import torch
from compare import mine, same, seeded

tv = genuine.load()
from harness.subresults import each  # noqa: E402
from torchvision.models._api import BUILTIN_MODELS  # noqa: E402

from dragon.vm import torch as dt  # noqa: E402
from dragon.vm.torchvision import models  # noqa: E402

# One of each family, made small; the side of its images.
SMALL = {
    "resnet18": ({}, 33), "squeezenet1_0": ({}, 32), "squeezenet1_1": ({}, 32), "densenet121": ({"drop_rate": 0.1}, 0),
    "mobilenet_v2": ({"width_mult": 0.25}, 32), "mobilenet_v3_small": ({"reduced_tail": True, "dilated": True}, 32),
    "efficientnet_b0": ({}, 0), "shufflenet_v2_x0_5": ({}, 32), "mnasnet0_5": ({}, 32),
    "googlenet": ({"init_weights": False, "transform_input": True}, 0), "regnet_y_400mf": ({}, 0),
}


@each("name", SMALL)
def test_model(name):
    options, side = SMALL[name]
    theirs = seeded(1, lambda: BUILTIN_MODELS[name](num_classes=7, **options))
    ours = seeded(1, lambda: models.get_model(name, num_classes=7, **options))
    assert repr(ours) == repr(theirs)
    same(dict(ours.state_dict()), dict(theirs.state_dict()))
    if not side:
        return
    images = torch.rand(2, 3, side, side, generator=torch.Generator().manual_seed(0))
    with torch.no_grad(), dt.no_grad():
        same(ours.eval()(mine(images)), theirs.eval()(images), 1e-3, 1e-5)


PARTS = {
    "vit": lambda m: m.VisionTransformer(16, 8, 2, 2, 12, 20, num_classes=5, representation_size=6),
    "vit stem": lambda m: m.VisionTransformer(16, 4, 1, 2, 8, 9, num_classes=5, conv_stem_configs=[
        m.vision_transformer.ConvStemConfig(4, 3, 2), m.vision_transformer.ConvStemConfig(6, 3, 2)]),
    "swin": lambda m: m.SwinTransformer([2, 2], 8, [2, 2], [2, 4], [3, 3], num_classes=5),
    "swin 2": lambda m: m.SwinTransformer([2, 2], 8, [2, 2], [2, 4], [3, 3], num_classes=5,
                                          block=m.swin_transformer.SwinTransformerBlockV2,
                                          downsample_layer=m.swin_transformer.PatchMergingV2),
    "convnext": lambda m: m.ConvNeXt([m.convnext.CNBlockConfig(4, 6, 1), m.convnext.CNBlockConfig(6, None, 2)],
                                     num_classes=5),
    "vgg": lambda m: torch_or(m).nn.Sequential(m.vgg.make_layers([4, "M", 6], batch_norm=True)),
    "resnet": lambda m: m.ResNet(m.resnet.Bottleneck, [1, 1, 1, 1], num_classes=4, width_per_group=8,
                                 replace_stride_with_dilation=[False, True, True], zero_init_residual=True),
    "densenet": lambda m: m.DenseNet(4, (2, 2), 6, num_classes=4),
    "regnet": lambda m: m.RegNet(m.regnet.BlockParams.from_init_params(4, 8, 8.0, 2.2, 4, se_ratio=0.25), 4, 8),
    "efficientnet": lambda m: m.EfficientNet([
        m.efficientnet.FusedMBConvConfig(1, 3, 1, 8, 8, 1), m.efficientnet.FusedMBConvConfig(4, 3, 2, 8, 8, 2),
        m.efficientnet.MBConvConfig(4, 3, 2, 8, 16, 2)], 0.1, last_channel=20, num_classes=4),
    "googlenet": lambda m: m.googlenet.Inception(4, 2, 3, 4, 2, 3, 4),
    "inception a": lambda m: torch_or(m).nn.Sequential(m.inception.InceptionA(3, 5), m.inception.InceptionB(229)),
    "inception c": lambda m: m.inception.InceptionC(3, 5), "inception d": lambda m: m.inception.InceptionD(3),
    "inception e": lambda m: m.inception.InceptionE(3),
    "maxvit": lambda m: m.maxvit.MaxVit((16, 16), 4, 2, [4, 8], [1, 2], 4, 0.2, num_classes=5),
}


PARTS_CHANNELS = {"googlenet": 4}


class Modules:
    """The modules of models, which functions of the same names may hide."""

    def __init__(self, root, library):
        self.root, self.torch = root, library

    def __getattr__(self, name):
        import importlib
        try:
            return importlib.import_module(f"{self.root}.{name}")
        except ImportError:
            return getattr(importlib.import_module(self.root), name)


def torch_or(modules):
    return modules.torch


@each("name", PARTS, size=8)
def test_parts(name):
    theirs = seeded(1, PARTS[name], Modules("torchvision.models", torch))
    ours = seeded(1, PARTS[name], Modules("dragon.vm.torchvision.models", dt))
    assert repr(ours) == repr(theirs)
    same(dict(ours.state_dict()), dict(theirs.state_dict()))
    images = torch.rand(2, PARTS_CHANNELS.get(name, 3), 16, 16, generator=torch.Generator().manual_seed(0))
    theirs_in, ours_in = images.clone().requires_grad_(), mine(images).requires_grad_()
    theirs.eval(), ours.eval()
    wanted, found = theirs(theirs_in), ours(ours_in)
    same(found, wanted, 1e-3, 1e-5)
    wanted.square().sum().backward(), found.square().sum().backward()
    same(ours_in.grad, theirs_in.grad, 1e-2, 1e-5)


def test_lists_and_checkpoints():
    assert models.list_models() == tv.models.list_models()
    for part in (lambda m: m, *(attrgetter(name) for name in (
            "detection", "segmentation", "video", "optical_flow", "quantization"))):
        assert models.list_models(part(models)) == tv.models.list_models(part(tv.models))
        assert not {name for name in dir(part(tv.models)) if name[0] != "_"} - set(dir(part(models)))
    assert models.list_models(include="resnet*", exclude="*50") == ["resnet101", "resnet152", "resnet18", "resnet34"]
    for name in models.list_models():
        shown, wanted_shown = (inspect.signature(m.get_model_builder(name)).parameters.values()
                               for m in (models, tv.models))
        assert [(p.name, str(p.default), p.kind) for p in shown] == [
            (p.name, str(p.default), p.kind) for p in wanted_shown]
        wanted, found = tv.models.get_model_weights(name), models.get_model_weights(name)
        assert list(found.__members__) == list(wanted.__members__) and found.__name__ == wanted.__name__
        for member in wanted.__members__:
            assert found[member].url == wanted[member].url
            facts, wanted_facts = found[member].meta, wanted[member].meta
            for key in ("num_params", "min_size", "categories", "min_temporal_size", "keypoint_names", "backend"):
                assert facts.get(key) == wanted_facts.get(key)
            assert str(facts.get("unquantized")) == str(wanted_facts.get("unquantized"))
            assert repr(found[member].transforms()) == repr(wanted[member].transforms())
            assert repr(found[member]) == repr(wanted[member])
    assert models.get_weight("ResNet50_Weights.DEFAULT") is models.ResNet50_Weights.IMAGENET1K_V2
    for call in (lambda m: m.get_weight("a"), lambda m: m.get_model("nothing"), lambda m: m.alexnet(nothing=1),
                 lambda m: m.resnet18(weights="nothing"), lambda m: m.resnext50_32x4d(groups=2)):
        with pytest.raises(Exception) as wanted:
            call(tv.models)
        with pytest.raises(wanted.type):
            call(models)


def test_checkpoint_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    weights = models.SqueezeNet1_1_Weights.IMAGENET1K_V1
    source = seeded(3, BUILTIN_MODELS["squeezenet1_1"])
    torch.save(source.state_dict(), folder / weights.url.rpartition("/")[2])
    pytest.importorskip("dragon.vm.torch.serialization")
    same(dict(models.squeezenet1_1(weights=weights).state_dict()), dict(source.state_dict()))
    with pytest.warns(UserWarning):
        models.squeezenet1_1(pretrained=True)


def test_intermediate_layers():
    getter = models._utils.IntermediateLayerGetter(models.resnet18(), {"layer1": "a", "layer3": "b"})
    out = getter(dt.rand(1, 3, 32, 32))
    assert [(name, tuple(value.shape)) for name, value in out.items()] == [("a", (1, 64, 8, 8)), ("b", (1, 256, 2, 2))]


def scaled(package, ops):
    """Return a small network that reads a parameter of its own, with operators as its layers."""
    class Scaled(package.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.drop = package.nn.Conv2d(3, 3, 1), ops.StochasticDepth(0.5, "row")
            self.scale = package.nn.Parameter(package.ones(3, 1, 1))

        def forward(self, x):
            return self.drop(self.conv(x) * self.scale)
    return Scaled()


def test_names_of_nodes():
    from torchvision.models.feature_extraction import get_graph_node_names

    from dragon.vm.torchvision import ops
    from dragon.vm.torchvision.models import feature_extraction
    names = feature_extraction.get_graph_node_names(scaled(dt, ops))
    assert names == get_graph_node_names(scaled(torch, tv.ops))
    made = feature_extraction.create_feature_extractor(scaled(dt, ops), ["mul", "drop"])
    assert [tuple(value.shape) for value in made(dt.rand(2, 3, 4, 4)).values()] == [(2, 3, 4, 4)] * 2


@pytest.mark.parametrize("make", [lambda ops: ops.StochasticDepth(0.5, "row"), lambda ops: ops.DropBlock2d(0.5, 3),
                                  lambda ops: ops.RoIAlign(2, 1.0, 2), lambda ops: ops.RoIPool(2, 1.0),
                                  lambda ops: ops.PSRoIAlign(2, 1.0, 2), lambda ops: ops.PSRoIPool(2, 1.0)])
def test_operators_are_nodes(make):
    """What asks for numbers that a trace does not have is one node of it."""
    from dragon.vm.torchvision import ops
    found, wanted = (package.fx.symbolic_trace(make(module)).graph for package, module in ((dt, ops), (torch, tv.ops)))
    assert [(node.op, node.name) for node in found.nodes] == [(node.op, node.name) for node in wanted.nodes]


def test_backbones_by_place():
    from dragon.vm.torchvision.models.detection import backbone_utils
    with pytest.warns(UserWarning, match="positional"):
        network = backbone_utils.resnet_fpn_backbone("resnet18", False, trainable_layers=2)
    learning = {name.split(".")[1] for name, value in network.named_parameters() if value.requires_grad}
    assert {"layer3", "layer4"} == {name for name in learning if name.startswith("layer") and not name[5:] == "_blocks"}
    with pytest.warns(UserWarning), pytest.raises(TypeError, match="multiple values"):
        backbone_utils.resnet_fpn_backbone("resnet18", None, weights=None)
    with pytest.raises(TypeError, match="positional"):
        backbone_utils.mobilenet_backbone(*range(9))


def test_flags_of_old_mean_checkpoints():
    def told(module, meant, *args, **kwargs):
        @module.handle_legacy_interface(weights=("pretrained", meant))
        def build(*, weights=None, **others):
            return str(weights), others
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                made = build(*args, **kwargs)
            except ValueError as error:
                made = str(error)
        return made, [str(warning.message) for warning in caught]

    for args, kwargs in (((), {}), ((True,), {}), ((False,), {}), ((None,), {}), (("IMAGENET1K_V1",), {}),
                         (("legacy",), {}), ((), {"pretrained": True, "other": 1}), ((), {"pretrained": False}),
                         ((), {"weights": None, "other": 1}), ((), {"weights": True})):
        for make in (lambda zoo: zoo.ResNet18_Weights.IMAGENET1K_V1, lambda zoo: None,
                     lambda zoo: lambda given: zoo.ResNet18_Weights.DEFAULT if given["pretrained"] else None):
            both = [told(zoo._utils, make(zoo), *args, **kwargs) for zoo in (models, tv.models)]
            assert both[0] == both[1]
