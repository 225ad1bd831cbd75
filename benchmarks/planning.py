"""What `dragon plan` foretells beside what processes take: memory of the process that needs most, and time of a step.

    python benchmarks/planning.py [--sizes 2,4] [--width 512] [--batch 256] [--rounds 3]

The net is a perceptron of eight blocks, trained with AdamW. Each process has one thread. Memory is the engine's peak, a
step's time the median of steps; of the rounds the least. More processes than processors are told, not timed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = """
import sys, time
import torch
from torch import nn
width, batch = {width}, {batch}
torch.manual_seed(0)
blocks = [nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(8)]
model = nn.Sequential(*blocks, nn.LayerNorm(width), nn.Linear(width, 10))
{wrap}
times = []
for step in range(14):
    x, y = torch.randn(batch, width), torch.randint(0, 10, (batch,))
    {wait}
    begin = time.perf_counter()
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    times.append(time.perf_counter() - begin)
{end}
"""
ALONE = "optimizer = torch.optim.AdamW(model.parameters())"
MEET = "import torch.distributed as dist\ndist.init_process_group('gloo')\n"
SHARD = """from torch.distributed.fsdp import fully_shard
for block in blocks:
    fully_shard(block)
fully_shard(model)
"""
WRAPS = {
    "data": MEET + "model = nn.parallel.DistributedDataParallel(model)\n" + ALONE,
    "zero-1": MEET + "model = nn.parallel.DistributedDataParallel(model)\n"
    "from torch.distributed.optim import ZeroRedundancyOptimizer\n"
    "optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW)",
    "zero-3": MEET + SHARD + ALONE}
END = """
from dragon import _C
found = [None] * dist.get_world_size()
dist.all_gather_object(found, (_C.memory_stats()["peak"], sorted(times[3:])[len(times[3:]) // 2]))
if dist.get_rank() == 0:
    print("found", max(peak for peak, _ in found), max(seconds for _, seconds in found))
dist.destroy_process_group()
"""


def run(*words):
    """Run a command of Dragon's; return what it has printed."""
    done = subprocess.run([sys.executable, "-m", "dragon", *map(str, words)], capture_output=True, text=True,
                          timeout=900, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout


def foretell(path, size):
    """Return {layout: (bytes, seconds)}."""
    told = json.loads(run("plan", path, "--world", f"1x{size}", "--time", "5", "--json"))
    return {plan["layout"]: (plan["memory"]["total"], plan["seconds"]) for plan in told["worlds"][0]["plans"]}


def measure(path, size, rounds):
    """Return (bytes, seconds) of processes that run a program."""
    found = []
    for _ in range(rounds):
        said = run("run", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", size, path)
        found.append(tuple(float(word) for word in said.partition("found ")[2].split()[:2]))
    return min(peak for peak, _ in found), min(seconds for _, seconds in found)


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="2,4")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = {}
        for name, wrap in {"alone": ALONE, **WRAPS}.items():
            places[name] = pathlib.Path(folder, f"{name}.py")
            places[name].write_text(PROGRAM.format(
                width=options.width, batch=options.batch, wrap=wrap, wait="" if name == "alone" else "dist.barrier()",
                end="" if name == "alone" else END), encoding="utf-8")
        print("| layout | memory foretold | measured | ratio | step foretold | measured | ratio |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for size in map(int, options.sizes.split(",")):
            plans = foretell(places["alone"], size)
            for name in WRAPS:
                told, found = plans[f"{name} {size}"], measure(places[name], size, options.rounds)
                crowded = size > len(os.sched_getaffinity(0))
                print(f"| {name} {size} | {told[0] / 1e6:.1f} MB | {found[0] / 1e6:.1f} MB | "
                      f"{told[0] / found[0]:.2f} | "
                      f"{told[1] * 1e3:.1f} ms | {found[1] * 1e3:.1f} ms | "
                      f"{'crowded' if crowded else f'{told[1] / found[1]:.2f}'} |", flush=True)


if __name__ == "__main__":
    main()
