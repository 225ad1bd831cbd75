"""What a plan would gain if independent calls ran side by side, each on one thread, instead of one by one on two.

    python benchmarks/branches.py [--nets googlenet,inception_v3,bidirectional,experts] [--rounds 15]

Each call of a plan is timed with two threads and with one, in processes of their own. The bound is what two workers
need at best, who take a call each as soon as its operands are there: the longest way to the end first, and handing
over costs nothing. A ratio below 1 says what branches in parallel could win; nothing beyond that is to be had.
"""
import argparse
import heapq
import json
import os
import statistics
import subprocess
import sys

NETS = ("googlenet", "inception_v3", "bidirectional", "experts")


def build(name):
    """Return a net with branches, and what it is given."""
    from dragon.vm import torch, torchvision
    torch.manual_seed(0)
    nn = torch.nn
    if name == "bidirectional":
        return nn.LSTM(128, 128, num_layers=2, bidirectional=True, batch_first=True), torch.randn(8, 32, 128)
    if name == "experts":
        class Experts(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = nn.ModuleList(nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256))
                                           for _ in range(8))

            def forward(self, x):
                return sum(part(x) for part in self.parts)
        return Experts(), torch.randn(64, 256)
    size = 299 if name == "inception_v3" else 128
    return getattr(torchvision.models, name)(num_classes=10), torch.randn(1, 3, size, size)


def work(name, rounds):
    """Print the calls of a net's plan: the median time of each, and which calls it waits for."""
    from dragon.core.capture.export import capture_graph, freeze
    from dragon.core.feeds import read_sizes
    net, x = build(name)
    graph, outside, _ = capture_graph(net.eval(), (x,))
    graph = freeze(graph, outside)
    plan = (graph.at(**read_sizes("branches", graph, [x])) if graph.symbols else graph).compile()
    plan.run([x])
    runs = [times_of(plan, plan.profile([x])) for _ in range(rounds)]
    producers = plan.graph.producers()
    waits = [sorted({producers[value] for value in numbers_of(call) if producers[value] >= 0})
             for call in plan.graph.calls]
    print(json.dumps({"times": [statistics.median(column) * 1e-9 for column in zip(*runs)], "waits": waits}))


def duration(event):
    """Return how long one call took."""
    return event[2] - event[1]


def times_of(plan, events):
    """Return the nanoseconds of each call; those that are done beforehand, as views are, take none."""
    events, times = list(events), []
    for call in plan.graph.calls:
        is_next = events and events[0][0] == call.op
        times.append(duration(events.pop(0)) if is_next else 0)
    left = [event[0] for event in events if event[0] != "clone"]  # results get memory of their own in the end
    if left:
        raise RuntimeError(f"branches: got an event of {left[0]}, expected one for each call at most")
    return times


def numbers_of(call):
    """Return the values that a call reads."""
    return [value for given in call.tensors.values()
            for value in (given if isinstance(given, (list, tuple)) else [given]) if value is not None]


def in_process(name, threads, rounds):
    """Return the calls of a net's plan with so many threads."""
    done = subprocess.run([sys.executable, __file__, "--work", name, "--rounds", str(rounds)], text=True, check=True,
                          capture_output=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)})
    return json.loads(done.stdout.splitlines()[-1])


def side_by_side(times, waits, workers=2):
    """Return how long workers take for calls in the order in which each is ready, the longest way to the end first."""
    readers = [[] for _ in times]
    for call, before in enumerate(waits):
        for other in before:
            readers[other].append(call)
    way = list(times)
    for call in reversed(range(len(times))):
        way[call] += max((way[reader] for reader in readers[call]), default=0.0)
    missing = [len(before) for before in waits]
    ready = [(-way[call], call) for call, count in enumerate(missing) if count == 0]
    heapq.heapify(ready)
    running, now = [], 0.0
    while ready or running:
        while ready and len(running) < workers:
            call = heapq.heappop(ready)[1]
            heapq.heappush(running, (now + times[call], call))
        now, call = heapq.heappop(running)
        for reader in readers[call]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, (-way[reader], reader))
    return now


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--work")
    options = parser.parse_args()
    if options.work:
        return work(options.work, options.rounds)
    print("| net | calls | one by one, 1 thread ms | one by one, 2 threads ms | side by side at best ms | ratio |")
    print("|---|---|---|---|---|---|")
    for name in options.nets.split(","):
        one, two = in_process(name, 1, options.rounds), in_process(name, 2, options.rounds)
        best = side_by_side(one["times"], one["waits"])
        whole = sum(two["times"])
        print(f"| {name} | {len(one['times'])} | {sum(one['times']) * 1e3:.2f} | {whole * 1e3:.2f} | {best * 1e3:.2f} "
              f"| {best / whole:.2f} |", flush=True)
    return None


if __name__ == "__main__":
    sys.exit(main())
