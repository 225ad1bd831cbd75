"""Steps of training with `DistributedDataParallel` beside steps of as many processes that do not average.

    python benchmarks/data_parallel.py [--size 2] [--batch 8] [--side 224] [--rounds 3] [--genuine]

The net is ResNet-50. Each turn is a set of processes, one thread each; a figure is the median of its steps in
milliseconds, and the least of the rounds. The share that averaging adds is the median of the rounds'.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from collectives import find_port

TURN = """
import json, sys, time
rank, size, port, ours, averages, batch, side = (int(word) for word in sys.argv[1:8])
if ours:
    import dragon.vm
    dragon.vm.install()
import torch
import torch.distributed as dist
import torchvision
torch.set_num_threads(1)
torch.manual_seed(0)
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)
model = torchvision.models.resnet50()
if averages:
    model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
x, y = torch.randn(batch, 3, side, side), torch.randint(0, 1000, (batch,))
times = []
for _ in range(10):
    dist.barrier()
    begin = time.perf_counter()
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    times.append(time.perf_counter() - begin)
if rank == 0:
    print(json.dumps(sorted(times[2:])[4] * 1e3))
dist.barrier()
"""


def measure(path, ours, averages, options):
    """Return the milliseconds of a step in one turn."""
    words = [str(int(word)) for word in (options.size, find_port(), ours, averages, options.batch, options.side)]
    ranks = [subprocess.Popen([sys.executable, path, str(rank), *words], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
             for rank in range(options.size)]
    try:
        outputs = [rank.communicate(timeout=600)[0] for rank in ranks]
    finally:
        for rank in ranks:
            if rank.poll() is None:
                rank.kill()
    return json.loads(outputs[0].splitlines()[-1])


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("size", 2), ("batch", 8), ("side", 224), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--genuine", action="store_true", help="PyTorch with gloo as well")
    options = parser.parse_args()
    print(f"| {options.size} processes, {options.batch} pictures of {options.side} x {options.side} each | alone, ms | "
          "averaged, ms | added |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "turn.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(TURN)
        for ours in (True, False) if options.genuine else (True,):
            found = [[measure(path, ours, averages, options) for averages in (False, True)]
                     for _ in range(options.rounds)]
            alone, averaged = (min(column) for column in zip(*found))
            added = statistics.median(other / one - 1 for one, other in found)
            print(f"| {'Dragon' if ours else 'PyTorch'} | {alone:.1f} | {averaged:.1f} | {added:.1%} |", flush=True)


if __name__ == "__main__":
    main()
