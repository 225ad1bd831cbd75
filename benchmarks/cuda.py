"""On a GPU: Dragon beside genuine PyTorch, one case after the other in turns, on the same card.

Usage: python benchmarks/cuda.py [--only PATTERN] [--rounds N] [--json FILE]

Every case is one function of `torch`; both sides call the same one. A round is as many calls as last about a hundredth
of a second, from an idle device to an idle device; the figure is the median round's time for a call.
"""
import argparse
import json
import re
import statistics
import time

CASES = {}


def case(name, bytes_moved=0, flops=0):
    """Enter a case: a function of `torch` that returns a function to be timed."""
    def enter(make):
        CASES[name] = (make, bytes_moved, flops)
        return make
    return enter


BIG = 1 << 26  # elements: several times the cache of any card in single precision


@case("tiny add (overhead of a call)")
def _(torch):
    x = torch.ones(16, device="cuda")
    return lambda: x + x


@case("add float32", bytes_moved=12 * BIG)
def _(torch):
    x, y = torch.randn(BIG, device="cuda"), torch.randn(BIG, device="cuda")
    return lambda: x + y


@case("add float16", bytes_moved=6 * BIG)
def _(torch):
    x, y = torch.randn(BIG, device="cuda").half(), torch.randn(BIG, device="cuda").half()
    return lambda: x + y


@case("gelu float32", bytes_moved=8 * BIG)
def _(torch):
    x = torch.randn(BIG, device="cuda")
    return lambda: torch.nn.functional.gelu(x)


@case("exp bfloat16", bytes_moved=4 * BIG)
def _(torch):
    x = torch.randn(BIG, device="cuda").bfloat16()
    return lambda: torch.exp(x)


@case("add a row to a matrix", bytes_moved=8 * BIG)
def _(torch):
    x, row = torch.randn(BIG // 4096, 4096, device="cuda"), torch.randn(4096, device="cuda")
    return lambda: x + row


@case("copy a transposed matrix", bytes_moved=8 * BIG)
def _(torch):
    x = torch.randn(8192, BIG // 8192, device="cuda")
    return lambda: x.t().contiguous()


@case("cast float32 to bfloat16", bytes_moved=6 * BIG)
def _(torch):
    x = torch.randn(BIG, device="cuda")
    return lambda: x.bfloat16()


@case("sum of all", bytes_moved=4 * BIG)
def _(torch):
    x = torch.randn(BIG, device="cuda")
    return lambda: x.sum()


@case("sum of rows", bytes_moved=4 * BIG)
def _(torch):
    x = torch.randn(BIG // 1024, 1024, device="cuda")
    return lambda: x.sum(1)


@case("sum of columns", bytes_moved=4 * BIG)
def _(torch):
    x = torch.randn(BIG // 1024, 1024, device="cuda")
    return lambda: x.sum(0)


@case("mean over pictures", bytes_moved=4 * BIG)
def _(torch):
    x = torch.randn(BIG // (256 * 56 * 56), 256, 56, 56, device="cuda")
    return lambda: x.mean((2, 3))


@case("argmax of rows", bytes_moved=4 * BIG)
def _(torch):
    x = torch.randn(BIG // 1024, 1024, device="cuda")
    return lambda: x.argmax(1)


@case("matmul float32 4096", flops=2 * 4096**3)
def _(torch):
    x, y = torch.randn(4096, 4096, device="cuda"), torch.randn(4096, 4096, device="cuda")
    return lambda: x @ y


@case("matmul bfloat16 8192", flops=2 * 8192**3)
def _(torch):
    x, y = (torch.randn(8192, 8192, device="cuda").bfloat16() for _ in range(2))
    return lambda: x @ y


@case("scaled product of float8 8192", flops=2 * 8192**3)
def _(torch):
    a, b = (torch.randn(8192, 8192, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16)


@case("linear with gelu bfloat16", flops=2 * 8192 * 1024 * 4096)
def _(torch):
    layer = torch.nn.Linear(1024, 4096, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(8192, 1024, device="cuda").bfloat16()
    return lambda: torch.nn.functional.gelu(layer(x))


@case("batched matmul float16", flops=2 * 256 * 512**3)
def _(torch):
    x, y = (torch.randn(256, 512, 512, device="cuda").half() for _ in range(2))
    return lambda: x @ y


@case("conv 3x3 float32 forward", flops=2 * 32 * 128 * 128 * 9 * 56 * 56)
def _(torch):
    layer = torch.nn.Conv2d(128, 128, 3, padding=1, device="cuda")
    x = torch.randn(32, 128, 56, 56, device="cuda")
    return lambda: layer(x)


@case("conv 3x3 bfloat16 forward and backward", flops=6 * 32 * 128 * 128 * 9 * 56 * 56)
def _(torch):
    layer = torch.nn.Conv2d(128, 128, 3, padding=1, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(32, 128, 56, 56, device="cuda").bfloat16().requires_grad_()
    dy = torch.randn(32, 128, 56, 56, device="cuda").bfloat16()
    return lambda: layer(x).backward(dy)


def depthwise(torch, dtype, channels, size, kernel, stride):
    """Return a convolution of every channel by itself over 64 pictures, as the layers around it lay them out."""
    layer = torch.nn.Conv2d(channels, channels, kernel, stride, kernel // 2, groups=channels, device="cuda",
                            dtype=getattr(torch, dtype))
    x = torch.randn(64, channels, size, size, device="cuda").to(getattr(torch, dtype))
    return layer, x.contiguous(memory_format=torch.channels_last)


def enter_depthwise(name, dtype, *sizes):
    """Enter a convolution of every channel by itself, forward, and forward and backward."""
    @case(f"{name} {dtype} forward")
    def _(torch):
        layer, x = depthwise(torch, dtype, *sizes)
        return lambda: layer(x)

    @case(f"{name} {dtype} forward and backward")
    def _(torch):
        layer, x = depthwise(torch, dtype, *sizes)
        x.requires_grad_()
        dy = torch.randn_like(layer(x).detach())
        return lambda: layer(x).backward(dy)


for dtype in ["float32", "bfloat16"]:
    enter_depthwise("depthwise conv 7x7", dtype, 96, 56, 7, 1)
    enter_depthwise("depthwise conv 3x3 with stride 2", dtype, 144, 56, 3, 2)


@case("softmax of rows", bytes_moved=8 * BIG)
def _(torch):
    x = torch.randn(BIG // 1024, 1024, device="cuda")
    return lambda: torch.softmax(x, 1)


@case("layer norm", bytes_moved=8 * BIG)
def _(torch):
    layer = torch.nn.LayerNorm(1024, device="cuda")
    x = torch.randn(BIG // 1024, 1024, device="cuda")
    return lambda: layer(x)


@case("layer norm forward and backward", bytes_moved=24 * BIG)
def _(torch):
    layer = torch.nn.LayerNorm(1024, device="cuda")
    x = torch.randn(BIG // 1024, 1024, device="cuda", requires_grad=True)
    dy = torch.randn(BIG // 1024, 1024, device="cuda")
    return lambda: layer(x).backward(dy)


@case("batch norm forward and backward", bytes_moved=32 * BIG)
def _(torch):
    layer = torch.nn.BatchNorm2d(256, device="cuda")
    x = torch.randn(BIG // (256 * 56 * 56), 256, 56, 56, device="cuda", requires_grad=True)
    dy = torch.ones_like(x)
    return lambda: layer(x).backward(dy)


@case("cross entropy forward and backward", bytes_moved=16 * 8192 * 32000)
def _(torch):
    x = torch.randn(8192, 32000, device="cuda", requires_grad=True)
    target = torch.randint(0, 32000, (8192,), device="cuda")
    return lambda: torch.nn.functional.cross_entropy(x, target).backward()


@case("dropout", bytes_moved=9 * BIG)
def _(torch):
    x = torch.randn(BIG, device="cuda")
    return lambda: torch.nn.functional.dropout(x, 0.1)


@case("embedding forward and backward")
def _(torch):
    table = torch.nn.Embedding(50000, 768, device="cuda")
    index = torch.randint(0, 50000, (16, 1024), device="cuda")
    dy = torch.randn(16, 1024, 768, device="cuda")
    return lambda: table(index).backward(dy)


def _attention(torch, backward):
    q, k, v = (torch.randn(16, 16, 1024, 64, device="cuda").bfloat16().requires_grad_(backward) for _ in range(3))
    dy = torch.randn(16, 16, 1024, 64, device="cuda").bfloat16()

    def run():
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        if backward:
            y.backward(dy)
    return run


@case("causal attention bfloat16 forward", flops=4 * 256 * 1024 * 1024 * 64 // 2)
def _(torch):
    return _attention(torch, False)


@case("causal attention bfloat16 forward and backward", flops=14 * 256 * 1024 * 1024 * 64 // 2)
def _(torch):
    return _attention(torch, True)


def _lstm(torch, dtype, backward):
    """Two layers of 512 units over 64 sequences of 100 steps."""
    network = torch.nn.LSTM(512, 512, 2, device="cuda", dtype=getattr(torch, dtype))
    x = torch.randn(100, 64, 512, device="cuda").to(getattr(torch, dtype))

    def run():
        with torch.set_grad_enabled(backward):
            y, _ = network(x)
        if backward:
            network.zero_grad()
            y.sum().backward()
    return run


LSTM_FLOPS = 2 * 2 * 6400 * 4 * 512 * 1024


@case("LSTM float32 forward", flops=LSTM_FLOPS)
def _(torch):
    return _lstm(torch, "float32", False)


@case("LSTM float32 forward and backward", flops=3 * LSTM_FLOPS)
def _(torch):
    return _lstm(torch, "float32", True)


@case("LSTM float16 forward and backward", flops=3 * LSTM_FLOPS)
def _(torch):
    return _lstm(torch, "float16", True)


@case("sort", bytes_moved=0)
def _(torch):
    x = torch.randn(1 << 22, device="cuda")
    return lambda: torch.sort(x)


@case("running sum", bytes_moved=8 * BIG)
def _(torch):
    x = torch.randn(BIG // 4096, 4096, device="cuda")
    return lambda: torch.cumsum(x, 1)


def _model(torch, make, optimizer, *shapes, classes=10, dtype=None):
    torch.manual_seed(0)
    model = make(torch).to("cuda")
    update = optimizer(torch, model.parameters())
    x = torch.randn(*shapes, device="cuda")
    target = torch.randint(0, classes, (shapes[0],), device="cuda")

    def step():
        update.zero_grad()
        with torch.autocast("cuda", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
            loss = torch.nn.functional.cross_entropy(model(x), target)
        loss.backward()
        update.step()
    return step


@case("training step of an MLP")
def _(torch):
    def make(torch):
        nn = torch.nn
        return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    return _model(torch, make, lambda torch, p: torch.optim.AdamW(p, 1e-4), 256, 784)


@case("training step of a small ConvNet")
def _(torch):
    def make(torch):
        nn, parts, before = torch.nn, [], 3
        for width in (64, 128, 256):
            parts += [nn.Conv2d(before, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2)]
            before = width
        return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))
    return _model(torch, make, lambda torch, p: torch.optim.SGD(p, 0.01, momentum=0.9), 128, 3, 64, 64)


@case("training step of a transformer's layers")
def _(torch):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.1, batch_first=True)
                                        for _ in range(6))
            self.head = nn.Linear(512, 10)

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return self.head(x.mean(1))
    return _model(torch, lambda _: Net(), lambda torch, p: torch.optim.AdamW(p, 1e-4), 32, 256, 512)


@case("compiled chain", bytes_moved=12 * BIG)
def _(torch):
    x, y = torch.randn(BIG, device="cuda"), torch.randn(BIG, device="cuda")
    chain = torch.compile(lambda x, y: torch.nn.functional.gelu(x * 1.5 + y) * torch.sigmoid(y) - x.abs())
    return lambda: chain(x, y)


@case("compiled norm of rows", bytes_moved=8 * BIG)
def _(torch):
    def norm(x):
        x = x - x.mean(-1, keepdim=True)
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)
    x = torch.randn(BIG // 1024, 1024, device="cuda")
    compiled = torch.compile(norm)
    return lambda: compiled(x)


def timed(torch, function, calls):
    """Return the seconds that a call lasts, measured over many."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        function()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / calls


def compare(name, make, sides, rounds):
    """Return {side: median seconds of a call}, or the error of a side that could not."""
    functions, found = {}, {}
    for side, torch in sides.items():
        try:
            function = make(torch)
            for _ in range(3):
                function()
            once = timed(torch, function, 3)
            functions[side] = (torch, function, max(1, min(1000, int(0.01 / once))))
        except Exception as error:
            found[side] = f"{type(error).__name__}: {error}"[:300]
    times = {side: [] for side in functions}
    for _ in range(rounds):
        for side, (torch, function, calls) in functions.items():
            times[side].append(timed(torch, function, calls))
    found.update({side: statistics.median(measured) for side, measured in times.items()})
    return found


def main():
    """Run the cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases in whose name this regular expression is found")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", help="write the figures there as well")
    options = parser.parse_args()
    import torch

    import dragon.vm.torch as dragon_torch

    sides = {"PyTorch": torch, "Dragon": dragon_torch}
    device = torch.cuda.get_device_name(0)
    print(f"{device}, PyTorch {torch.__version__}")
    print(f"{'case':48} {'Dragon us':>11} {'PyTorch us':>11} {'ratio':>6}  Dragon's rate")
    figures = {}
    for name, (make, bytes_moved, flops) in CASES.items():
        if not re.search(options.only, name):
            continue
        found = figures[name] = compare(name, make, sides, options.rounds)
        mine, theirs = found["Dragon"], found["PyTorch"]
        if isinstance(mine, str) or isinstance(theirs, str):
            print(f"{name:48} {mine if isinstance(mine, str) else theirs}", flush=True)
            continue
        rate = (f"{bytes_moved / mine / 1e9:.0f} GB/s" if bytes_moved else f"{flops / mine / 1e12:.1f} TFLOP/s" if flops
                else "")
        print(f"{name:48} {mine * 1e6:11.1f} {theirs * 1e6:11.1f} {mine / theirs:6.2f}  {rate}", flush=True)
        torch.cuda.empty_cache()
        dragon_torch.cuda.empty_cache()
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"device": device, "torch": torch.__version__, "figures": figures}, file, indent=1)


if __name__ == "__main__":
    main()
