"""Compiled training steps beside PyTorch's: Dragon and PyTorch, eager and under `torch.compile`, interleaved.

    python benchmarks/torch_compile.py [--nets mlp,gpt] [--rounds 5] [--seconds 1] [--sides dragon,torch,torch-compile]
    python benchmarks/torch_compile.py --capture resnet50       # what capture and compilation cost
    python benchmarks/torch_compile.py --memory resnet50,gpt    # peaks at O1, O2, O3 and eager, training and inference

The nets and the workers' protocol are those of `torch_training.py`. Every side runs in a process of its own with two
threads, or OMP_NUM_THREADS; while one measures, the others wait, and what `torch.compile` needs to warm up is left out.
`model` compiles the net, as most scripts do; `step` compiles forward, backward and update as one.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

from torch_training import NETS, build

# Side -> (under Dragon, what is compiled).
SIDES = {
    "dragon-step": (True, "step"),
    "dragon-model": (True, "model"),
    "dragon": (True, ""),
    "torch": (False, ""),
    "torch-compile": (False, "model"),
}
WARM_UP = 6


def make_step(name, compiled):
    """Return a training step of a net, compiled as told."""
    import torch
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    model, x, y, optimizer = build(name)
    loss_of = torch.nn.CrossEntropyLoss()
    net = torch.compile(model) if compiled == "model" else model

    def step():
        optimizer.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return torch.compile(step) if compiled == "step" else step


def work(name, compiled, seconds):
    """Answer each line on the standard input with the step times of one round."""
    import resource
    step = make_step(name, compiled)
    losses, times = [], []
    for _ in range(WARM_UP):
        start = time.perf_counter()
        losses.append(step().item())
        times.append(time.perf_counter() - start)
    print(json.dumps({"losses": losses, "warm up": times}), flush=True)
    for _ in sys.stdin:
        step()
        times, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end or not times:
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"time": statistics.median(times), "peak": peak}), flush=True)


def start(side, name, seconds, extra=(), **environment):
    """Start a worker of a side."""
    dragon, compiled = SIDES[side]
    command = [os.path.abspath(__file__), "--worker", name, "--compiled", compiled, "--seconds", str(seconds), *extra]
    line = [sys.executable, *(["-m", "dragon", "run"] if dragon else []), *command]
    environment = {"OMP_NUM_THREADS": "2", **os.environ, **environment}
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def read(worker):
    """Return a worker's next answer; the compilers' own talk is passed over."""
    for line in worker.stdout:
        if line.startswith("{"):
            return json.loads(line)
    raise SystemExit(f"a worker ended with status {worker.wait()}")


def measure(name, sides, rounds, seconds):
    """Return {side: times of the rounds}, {side: peak in MiB} and {side: the answer about the warm-up}."""
    workers = {side: start(side, name, seconds) for side in sides}
    first = {side: read(worker) for side, worker in workers.items()}
    answers = {side: [] for side in sides}
    for number in range(rounds):
        for side in list(sides)[::1 if number % 2 else -1]:
            workers[side].stdin.write("go\n")
            workers[side].stdin.flush()
            answers[side].append(read(workers[side]))
    for worker in workers.values():
        worker.stdin.close()
        worker.wait(60)
    times = {side: [answer["time"] for answer in found] for side, found in answers.items()}
    peaks = {side: max(answer["peak"] for answer in found) for side, found in answers.items()}
    return times, peaks, first


def ratio(times, side, rival):
    """Return the median over rounds of the ratio of two sides' times, or None."""
    if side not in times or rival not in times:
        return None
    return statistics.median(a / b for a, b in zip(times[side], times[rival]))


def agree(first):
    """Whether all sides computed the same losses."""
    reference = next(iter(first.values()))["losses"]
    return all(abs(a - b) < 5e-3 * max(1, abs(b)) for answer in first.values()
               for a, b in zip(answer["losses"][:3], reference))


def compare(nets, sides, rounds, seconds):
    """Print a table of step times."""
    mine = [side for side in sides if side.startswith("dragon-")]
    pairs = [(side, rival) for side in mine for rival in ("torch", "torch-compile")]
    heads = [f"{side} ms" for side in sides] + [f"{side} / {rival}" for side, rival in pairs] + ["same losses"]
    print("| net | " + " | ".join(heads) + " |\n" + "|---" * (len(heads) + 1) + "|")
    collected = {}
    for name in nets:
        times, _, first = measure(name, sides, rounds, seconds)
        cells = [f"{statistics.median(times[side]) * 1e3:.2f}" for side in sides]
        for side, rival in pairs:
            found = ratio(times, side, rival)
            collected.setdefault((side, rival), []).append(found)
            cells.append("-" if found is None else f"{found:.2f}")
        print(f"| {name} | {' | '.join(cells)} | {'yes' if agree(first) else 'NO'} |", flush=True)
    for (side, rival), found in collected.items():
        if None not in found:
            print(f"\nGeometric mean of {side} / {rival}: {statistics.geometric_mean(found):.2f}")


def capture(nets):
    """Print what the first calls cost beyond a later one, each in a fresh process."""
    print("| net | side | first calls ms | a later step ms | capture and compilation ms |\n|---|---|---|---|---|")
    for name in nets:
        for side in ("dragon-model", "dragon-step", "torch-compile"):
            worker = start(side, name, 0.1)
            times = [seconds * 1e3 for seconds in read(worker)["warm up"]]
            worker.stdin.close()
            worker.wait(60)
            later = min(times)
            spent = sum(seconds - later for seconds in times)
            print(f"| {name} | {side} | {', '.join(f'{ms:.0f}' for ms in times[:3])} | {later:.0f} | {spent:.0f} |",
                  flush=True)


def watch_memory(name, compiled):
    """Print the peaks of the engine's own memory: of a training step, and of inference."""
    import dragon
    import torch
    step = make_step(name, compiled)
    model, x, _, _ = build(name)
    infer = torch.compile(model.eval()) if compiled else model.eval()

    def peak_of(call):
        for _ in range(3):
            call()
        before = dragon.memory_stats()["current"]
        dragon.reset_peak_memory()
        call()
        return (dragon.memory_stats()["peak"] - before) / 2 ** 20

    def without_gradients():
        with torch.no_grad():
            infer(x)

    print(json.dumps({"train": peak_of(step), "infer": peak_of(without_gradients)}), flush=True)


def memory(nets):
    """Print the peaks at each level, above what is held between the calls."""
    print("| net | level | training peak MiB | inference peak MiB |\n|---|---|---|---|")
    for name in nets:
        for label, side, level in (("eager", "dragon", "3"), *((f"O{level} {side}", side, str(level)) for side in
                                                               ("dragon-model", "dragon-step") for level in (1, 2, 3))):
            worker = start(side, name, 0, ("--watch-memory",), DRAGON_GRAPH_LEVEL=level)
            found = read(worker)
            worker.stdin.close()
            worker.wait(60)
            print(f"| {name} | {label} | {found['train']:.1f} | {found['infer']:.1f} |", flush=True)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--sides", default=",".join(SIDES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--capture", metavar="NETS")
    parser.add_argument("--memory", metavar="NETS")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--compiled", help=argparse.SUPPRESS)
    parser.add_argument("--watch-memory", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker and args.watch_memory:
        return watch_memory(args.worker, args.compiled)
    if args.worker:
        return work(args.worker, args.compiled, args.seconds)
    if args.capture:
        return capture(args.capture.split(","))
    if args.memory:
        return memory(args.memory.split(","))
    return compare(args.nets.split(","), args.sides.split(","), args.rounds, args.seconds)


if __name__ == "__main__":
    main()
