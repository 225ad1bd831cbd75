"""What a compiled call costs at a size that never came before: in a decoder, keys and values grow by one each step.

`python benchmarks/sizes.py` prints, for a decoder of twelve layers, how long a step takes as eager code and compiled,
where every length is a new one; the layers are so small that the cost of calling remains. It also times captures.
"""
import argparse
import statistics
import time
import warnings

from dragon.vm import torch
from dragon.vm.torch import nn
from dragon.vm.torch.nn import functional as F


class Block(nn.Module):
    """A layer of GPT-2 that is given the keys and values of the tokens before."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, keys, values):
        """Return the tokens, and all keys and values."""
        batch, length, width = x.shape
        parts = self.mix(self.first(x)).split(width, dim=2)
        q, k, v = (part.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for part in parts)
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        y = F.scaled_dot_product_attention(q, keys, values)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.second(x)))), keys, values


class Decoder(nn.Module):
    """Some layers, one after another."""

    def __init__(self, layers, width, heads):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))

    def forward(self, x, *cache):
        """Return the tokens and the cache of all layers."""
        grown = []
        for number, block in enumerate(self.blocks):
            x, keys, values = block(x, cache[2 * number], cache[2 * number + 1])
            grown += [keys, values]
        return x, *grown


def decode(step, model, steps, width, heads):
    """Return how long each step took, in milliseconds."""
    x = torch.zeros(1, 1, width) + 0.1
    cache = [torch.zeros(1, heads, 4, width // heads) for _ in range(2 * len(model.blocks))]
    times = []
    with torch.no_grad():
        for _ in range(steps):
            begin = time.perf_counter()
            x, *cache = step(x, *cache)
            times.append((time.perf_counter() - begin) * 1e3)
    return times


def main():
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("error")
    torch.set_num_threads(2)
    model = Decoder(options.layers, options.width, 4).eval()
    compiled = torch.compile(model)
    took = {"eager": [], "compiled": []}
    first = decode(compiled, model, 3, options.width, 4)
    for number in range(options.rounds):
        for name, step in (("eager", model), ("compiled", compiled)):
            if name == "compiled":
                torch._dynamo.reset()
                decode(compiled, model, 3, options.width, 4)  # the captures
            took[name] += decode(step, model, options.steps, options.width, 4)[5:]
    medians = {name: statistics.median(times) for name, times in took.items()}
    print(f"{options.layers} layers of width {options.width}, one token, a longer cache each step")
    print(f"eager {medians['eager']:.2f} ms a step, compiled at lengths that are all new {medians['compiled']:.2f} ms: "
          f"{medians['compiled'] / medians['eager']:.2f} of it")
    print(f"the first call {first[0]:.0f} ms, the second, which leaves the length open, {first[1]:.0f} ms; captures: "
          f"{len(compiled._compiled.retraces) + 1}")


if __name__ == "__main__":
    main()
