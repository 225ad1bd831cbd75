"""Models of torchvision are traced: whole, and for what they compute on the way."""
import copy

import pytest

from dragon.vm import torch, torchvision
from dragon.vm.torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names
from harness.subresults import each

SMALL = ["alexnet", "squeezenet1_1", "resnet18", "mobilenet_v3_small", "shufflenet_v2_x0_5", "mnasnet0_5",
         "regnet_x_400mf", "swin_t", "swin_v2_t"]


@each("name", SMALL)
def test_models_compute_the_same_when_traced(name):
    torch.manual_seed(1)
    model = torchvision.models.get_model(name, weights=None).eval()
    traced = torch.fx.symbolic_trace(model)
    traced.graph.lint()
    image = torch.randn(1, 3, 96, 96)
    with torch.no_grad():
        assert torch.equal(traced(image), model(image))
        assert torch.equal(torch.fx.Interpreter(traced).run(image), model(image))


def test_attention_over_patches_is_traced():
    model = torchvision.models.VisionTransformer(32, 16, 1, 2, 8, 16, num_classes=5).eval()
    traced = torch.fx.symbolic_trace(model)
    image = torch.randn(2, 3, 32, 32)
    assert torch.equal(traced(image), model(image))
    with pytest.raises(AssertionError, match="Wrong image height"):
        traced(torch.randn(2, 3, 16, 16))


def test_nodes_are_named_by_their_modules():
    train, evaluated = get_graph_node_names(torchvision.models.resnet18())
    assert train == evaluated
    assert train[:8] == ["x", "conv1", "bn1", "relu", "maxpool", "layer1.0.conv1", "layer1.0.bn1", "layer1.0.relu"]
    assert train[-4:] == ["layer4.1.relu_1", "avgpool", "flatten", "fc"]


def test_features_on_the_way():
    model = torchvision.models.resnet18()
    body = create_feature_extractor(model, {"layer1": "low", "layer3.0.relu": "high"})
    image = torch.randn(1, 3, 64, 64)
    assert {name: tuple(value.shape) for name, value in body(image).items()} == {
        "low": (1, 64, 16, 16), "high": (1, 256, 4, 4)}
    assert body.training and not body.eval().training and not hasattr(body, "fc")
    model.eval()
    low = model.layer1(model.maxpool(model.relu(model.bn1(model.conv1(image)))))
    for module in (body, copy.deepcopy(body)):
        assert torch.equal(module(image)["low"], low)
        assert list(module.train()(image)) == ["low", "high"]
        module.eval()


def test_training_and_evaluation_may_differ():
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.relu(x) if self.training else torch.sigmoid(x)
    with pytest.warns(UserWarning, match="different"):
        body = create_feature_extractor(Model(), train_return_nodes=["relu"], eval_return_nodes={"sigmoid": "s"})
    assert list(body(torch.ones(1))) == ["relu"] and list(body.eval()(torch.ones(1))) == ["s"]


@pytest.mark.parametrize("arguments, message", [
    ({}, "should be specified"), ({"train_return_nodes": ["x"]}, "then both"),
    ({"return_nodes": ["layer9"]}, "node: 'layer9' is not present")])
def test_what_cannot_be_extracted_is_said(arguments, message):
    with pytest.raises(ValueError, match=message):
        create_feature_extractor(torchvision.models.resnet18(), **arguments)
