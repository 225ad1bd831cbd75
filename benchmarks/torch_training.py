"""Training steps of whole nets, under `dragon run` and under genuine PyTorch: the same script, interleaved.

    python benchmarks/torch_training.py [--nets mlp,gpt] [--rounds 5] [--seconds 2] [--table]
    python benchmarks/torch_training.py --nets gcn-coo,gcn-csr,gcn-scatter,gat    # nets over graphs

Each side runs in a process of its own with two threads and answers one round after the other; while one measures, the
other waits. Printed are medians over rounds of step times, the median of the ratios within a round, and peak memory.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import graph_nets

NETS = ("mlp", "cnn", "resnet18", "resnet50", "lstm", "gpt", "vit")


def build(name):
    """Return (model, inputs, targets, optimizer) of a net by name."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    if name in graph_nets.NETS:
        model, data = graph_nets.make_net(name, torch, nn)
    elif name == "mlp":
        model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
        data = torch.randn(64, 784), torch.randint(0, 10, (64,))
    elif name == "cnn":
        model = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
                              nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10))
        data = torch.randn(32, 1, 28, 28), torch.randint(0, 10, (32,))
    elif name.startswith("resnet"):
        model = make_resnet(nn, bottleneck=name == "resnet50")
        data = torch.randn(8, 3, 224, 224), torch.randint(0, 1000, (8,))
    elif name == "vit":
        model = make_vit(nn)
        data = torch.randn(8, 3, 224, 224), torch.randint(0, 1000, (8,))
    else:
        model, data = make_language(name, torch, nn)
    if name.startswith("resnet"):
        return model, *data, torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    return model, *data, torch.optim.AdamW(model.parameters(), lr=1e-4)


def make_resnet(nn, bottleneck):
    """Return a ResNet-18, or with bottlenecks a ResNet-50."""
    class Block(nn.Module):
        def __init__(self, inputs, width, stride):
            super().__init__()
            outputs = width * (4 if bottleneck else 1)
            # Kernel, stride and width of each convolution of the branch.
            plan = [(1, 1, width), (3, stride, width), (1, 1, outputs)] if bottleneck else [
                (3, stride, width), (3, 1, width)]
            layers = []
            for place, (kernel, step, channels) in enumerate(plan):
                before = plan[place - 1][2] if place else inputs
                layers += [nn.Conv2d(before, channels, kernel, step, kernel // 2, bias=False),
                           nn.BatchNorm2d(channels), nn.ReLU(inplace=True)]
            self.branch, self.relu = nn.Sequential(*layers[:-1]), nn.ReLU(inplace=True)
            self.shortcut = nn.Identity() if stride == 1 and inputs == outputs else nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

        def forward(self, x):
            return self.relu(self.branch(x) + self.shortcut(x))

    layers, inputs = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
                      nn.MaxPool2d(3, 2, 1)], 64
    for stage, depth in enumerate((3, 4, 6, 3) if bottleneck else (2, 2, 2, 2)):
        for place in range(depth):
            layers.append(Block(inputs, 64 << stage, 2 if stage and not place else 1))
            inputs = (64 << stage) * (4 if bottleneck else 1)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


def make_vit(nn):
    """Return a ViT-tiny: 12 layers of width 192 over patches of 16 x 16."""
    class Vit(nn.Module):
        def __init__(self, width=192):
            super().__init__()
            self.patches = nn.Conv2d(3, width, 16, 16)
            layer = nn.TransformerEncoderLayer(width, 3, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
            self.encoder = nn.TransformerEncoder(layer, 12, nn.LayerNorm(width), enable_nested_tensor=False)
            self.head = nn.Linear(width, 1000)

        def forward(self, x):
            return self.head(self.encoder(self.patches(x).flatten(2).transpose(1, 2)).mean(1))
    return Vit()


def make_language(name, torch, nn):
    """Return a two-layer character LSTM, or a four-layer GPT of width 256, and tokens."""
    class Lstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.lstm = nn.Embedding(96, 256), nn.LSTM(256, 256, 2, batch_first=True)
            self.head = nn.Linear(256, 96)

        def forward(self, x):
            return self.head(self.lstm(self.embedding(x))[0]).flatten(0, 1)

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            batch, length, width = x.shape
            q, k, v = self.attend(self.norm1(x)).view(batch, length, 3, 8, width // 8).permute(2, 0, 3, 1, 4)
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.project(y.transpose(1, 2).reshape(batch, length, width))
            return x + self.mlp(self.norm2(x))

    class Gpt(nn.Module):
        def __init__(self, width=256, words=8192):
            super().__init__()
            self.tokens, self.places = nn.Embedding(words, width), nn.Embedding(128, width)
            self.blocks = nn.Sequential(*(Block(width) for _ in range(4)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

        def forward(self, x):
            places = torch.arange(x.shape[1])
            return self.head(self.norm(self.blocks(self.tokens(x) + self.places(places)))).flatten(0, 1)

    batch, length, words = (32, 64, 96) if name == "lstm" else (4, 128, 8192)
    tokens = torch.randint(0, words, (batch, length + 1))
    return (Lstm() if name == "lstm" else Gpt()), (tokens[:, :-1], tokens[:, 1:].flatten())


def work(name, seconds):
    """Answer each line on the standard input with the step times of one round."""
    import resource

    import torch
    torch.set_num_threads(2)
    model, x, y, optimizer = build(name)
    loss_of = torch.nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    losses = [step().item() for _ in range(3)]
    print(json.dumps({"losses": losses}), flush=True)
    for _ in sys.stdin:
        step()
        times, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end or not times:
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"time": statistics.median(times), "peak": peak}), flush=True)


def measure(name, rounds, seconds):
    """Return {side: (time, peak)}, the median ratio, and whether both sides computed the same losses."""
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    command = [os.path.abspath(__file__), "--worker", name, "--seconds", str(seconds)]
    sides = {"dragon": [sys.executable, "-m", "dragon", "run", *command], "PyTorch": [sys.executable, *command]}
    workers = {side: subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
               for side, line in sides.items()}
    losses = {side: json.loads(worker.stdout.readline())["losses"] for side, worker in workers.items()}
    agree = all(abs(a - b) < 2e-3 * abs(b) for a, b in zip(losses["dragon"], losses["PyTorch"]))
    answers = {side: [] for side in sides}
    for number in range(rounds):
        for side in list(sides)[::1 if number % 2 else -1]:
            workers[side].stdin.write("go\n")
            workers[side].stdin.flush()
            answers[side].append(json.loads(workers[side].stdout.readline()))
    for worker in workers.values():
        worker.stdin.close()
        worker.wait(30)
    ratios = [a["time"] / b["time"] for a, b in zip(answers["dragon"], answers["PyTorch"])]
    figures = {side: (statistics.median(a["time"] for a in found), max(a["peak"] for a in found))
               for side, found in answers.items()}
    return figures, statistics.median(ratios), agree


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return work(args.worker, args.seconds)
    print("| net | Dragon ms | PyTorch ms | ratio | Dragon MiB | PyTorch MiB | same losses |")
    print("|---|---|---|---|---|---|---|")
    all_ratios = []
    for name in args.nets.split(","):
        figures, ratio, agree = measure(name, args.rounds, args.seconds)
        (mine, my_peak), (theirs, their_peak) = figures["dragon"], figures["PyTorch"]
        all_ratios.append(ratio)
        print(f"| {name} | {mine * 1e3:.2f} | {theirs * 1e3:.2f} | {ratio:.2f} | {my_peak:.0f} | {their_peak:.0f} | "
              f"{'yes' if agree else 'NO'} |", flush=True)
    print(f"\nGeometric mean of the ratios: {statistics.geometric_mean(all_ratios):.2f}")


if __name__ == "__main__":
    main()
