"""Nets for images leave sizes open that they do not need: nobody makes text, or plain numbers, of them on the way."""
import pytest

from dragon.core.capture.export import capture_graph
from dragon.vm import torch, torchvision


@pytest.mark.parametrize("name, size, options", [
    ("vit_b_32", 64, {"image_size": 64, "num_classes": 3}), ("resnet18", 64, {"num_classes": 3}),
    ("mobilenet_v3_small", 64, {"num_classes": 3}), ("convnext_tiny", 64, {"num_classes": 3})])
def test_the_batch_is_open(name, size, options):
    net = getattr(torchvision.models, name)(**options).eval()
    graph, _, _ = capture_graph(net, (torch.zeros(2, 3, size, size),))
    assert "batch" in graph.symbols and graph.bounds.get("batch", (0, None, 1))[1] is None
    graph.at(**{symbol: 5 if symbol == "batch" else size for symbol in graph.symbols})
