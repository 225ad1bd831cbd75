"""Collectives between processes of this machine: Dragon's `torch.distributed` beside PyTorch's with gloo, in turns.

    python benchmarks/collectives.py [--size 2] [--rounds 3] [--only all_reduce] [--bytes 4 65536]

Each turn is a set of processes of one library; a figure is the least of the rounds' medians, in microseconds a call.
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile

TURN = """
import json, sys, time
rank, size, port, ours, name, bytes_each = *(int(word) for word in sys.argv[1:5]), sys.argv[5], int(sys.argv[6])
if ours:
    import dragon.vm
    dragon.vm.install()
import torch
import torch.distributed as dist
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)
count = bytes_each // 4
x = torch.ones(max(count // size * size, 1))
calls = {
    "all_reduce": lambda: dist.all_reduce(x),
    "broadcast": lambda: dist.broadcast(x, 0),
    "all_gather": lambda: dist.all_gather_into_tensor(x, x[:len(x) // size]),
    "reduce_scatter": lambda: dist.reduce_scatter_tensor(x[:len(x) // size].clone(), x),
    "all_to_all": lambda: dist.all_to_all_single(torch.empty_like(x), x),
    "barrier": dist.barrier,
    "send": lambda: dist.send(x, 1) if rank == 0 else dist.recv(x, 0) if rank == 1 else None,
}
call = calls[name]
repeats = max(min(2000, (1 << 26) // max(bytes_each, 1)), 3)
for _ in range(3):
    call()
times = []
for _ in range(7):
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(repeats):
        call()
    times.append((time.perf_counter() - begin) / repeats)
    x.fill_(1.0)
if rank == 0:
    print(json.dumps(sorted(times)[len(times) // 2] * 1e6))
dist.barrier()
"""
NAMES = "all_reduce broadcast all_gather reduce_scatter all_to_all send barrier".split()
SIZES = (4, 65536, 16 << 20, 256 << 20)


def find_port():
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def measure(path, ours, name, bytes_each, size):
    """Return the microseconds of a call in one turn."""
    port = find_port()
    words = [str(size), str(port), str(int(ours)), name, str(bytes_each)]
    ranks = [subprocess.Popen([sys.executable, path, str(rank), *words], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
             for rank in range(size)]
    try:
        outputs = [rank.communicate(timeout=300)[0] for rank in ranks]
    finally:
        for rank in ranks:
            if rank.poll() is None:
                rank.kill()
    return json.loads(outputs[0].splitlines()[-1])


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=NAMES, nargs="*", default=NAMES)
    parser.add_argument("--bytes", type=int, nargs="*", default=SIZES)
    options = parser.parse_args()
    print(f"| {options.size} processes | bytes | Dragon, us | gloo, us | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "turn.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(TURN)
        for name in options.only:
            for bytes_each in options.bytes if name != "barrier" else (0,):
                found = [[measure(path, ours, name, bytes_each, options.size) for ours in (True, False)]
                         for _ in range(options.rounds)]
                ours, theirs = (min(column) for column in zip(*found))
                ratio = statistics.median(one / other for one, other in found)
                print(f"| `{name}` | {bytes_each:,} | {ours:,.1f} | {theirs:,.1f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
