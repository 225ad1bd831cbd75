"""A program that trains one of a few nets: what calls cost is measured with it, on Dragon or on genuine PyTorch."""
import sys

import torch
from torch import nn


class Block(nn.Module):
    """A block of a transformer."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        """Return what follows x."""
        batch, length, width = x.shape
        parts = self.attend(self.first(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.project(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(nn.functional.gelu(self.widen(self.second(x))))


class Gpt(nn.Module):
    """A transformer that tells the next of a sequence of words."""

    def __init__(self, width=128, depth=2, heads=4, words=1024, length=64):
        super().__init__()
        self.tokens, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, x):
        """Return the scores of words at each place."""
        x = self.tokens(x) + self.places(torch.arange(x.shape[1]))
        return self.head(self.norm(self.blocks(x))).flatten(0, 1)


class Bottleneck(nn.Module):
    """A block of a ResNet: narrow, look around, widen, and add."""

    def __init__(self, before, width, stride):
        super().__init__()
        after = 4 * width
        self.branch = nn.Sequential(
            nn.Conv2d(before, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, after, 1, bias=False), nn.BatchNorm2d(after))
        self.shortcut = nn.Identity() if stride == 1 and before == after else nn.Sequential(
            nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        """Return what follows x."""
        return torch.relu(self.branch(x) + self.shortcut(x))


def make_resnet(depths=(3, 4, 6, 3), width=64, classes=1000):
    """Return a ResNet of bottlenecks: of 50 layers unless other depths are told."""
    layers, before = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                      nn.MaxPool2d(3, 2, 1)], width
    for stage, depth in enumerate(depths):
        for place in range(depth):
            layers.append(Bottleneck(before, width << stage, 2 if stage and not place else 1))
            before = 4 * (width << stage)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, classes))


def make(name):
    """Return (model, inputs, targets) of a net by name.

    Parameters
    ----------
    name : str
        "resnet50", "gpt", or a smaller net: "mlp", "convolutions", "attention".

    Returns
    -------
    Tuple[torch.nn.Module, torch.Tensor, torch.Tensor]
        The model and a batch.

    """
    torch.manual_seed(0)
    if name == "mlp":
        return (nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)),
                torch.randn(64, 784), torch.randint(0, 10, (64,)))
    if name in ("resnet50", "convolutions"):
        size, batch = (224, 4) if name == "resnet50" else (64, 4)
        model = make_resnet() if name == "resnet50" else make_resnet((1, 1, 1, 1), 32, 100)
        return model, torch.randn(batch, 3, size, size), torch.randint(0, 100, (batch,))
    if name not in ("gpt", "attention"):
        raise ValueError(f"nets: got {name!r}, expected one of mlp, convolutions, attention, resnet50, gpt")
    model = Gpt(256, 4, 8, 8192, 128) if name == "gpt" else Gpt()
    words, length = model.tokens.num_embeddings, model.places.num_embeddings
    tokens = torch.randint(0, words, (4, length + 1))
    return model, tokens[:, :-1], tokens[:, 1:].flatten()


def make_optimizer(name, model):
    """Return the optimizer that goes with a net."""
    if name in ("resnet50", "convolutions"):
        return torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
    return torch.optim.AdamW(model.parameters(), 1e-4)


def main():
    """Train a net for some steps."""
    model, inputs, targets = make(sys.argv[1])
    optimizer = make_optimizer(sys.argv[1], model)
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 20):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
