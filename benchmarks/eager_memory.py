"""Page faults and memory of whole nets, eager, under `dragon run` and under genuine PyTorch: one script, interleaved.

    python benchmarks/eager_memory.py [--nets resnet50:16,mobilenet_v2:16,...] [--rounds 5] [--calls 5]

Each side runs in a process of its own with two threads and answers one round after the other; while one measures, the
other waits. A net is NAME:BATCH, or NAME:BATCH:train for training steps; nets that benchmarks/inference.py has not are
torchvision's, and Dragon's alone. Printed are the faults of a call once the net has warmed up, the peak that Dragon has
reserved by the peak it has in use, and medians of the ratios of times.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

NETS = ("resnet50:16,mobilenet_v2:16,encoder:16,efficientnet_b0:8,densenet121:4,resnet50:8:train,mobilenet_v2:8:train,"
        "efficientnet_b0:8:train")
OWN = ("resnet50", "mobilenet_v2", "encoder")
WARM_CALLS = 5


def make_call(name, batch, training):
    """Return a function that calls a net, or trains it by a step, as the process's `torch` has it."""
    import torch
    from inference import build, numbers
    torch.set_num_threads(2)
    if name in OWN:
        net, shape = build(name, torch)
    else:
        import torchvision
        net, shape = torchvision.models.get_model(name).eval(), (3, 224, 224)
    x = torch.from_numpy(numbers((batch, *shape)))
    if not training:
        def infer():
            with torch.no_grad():
                return net(x)
        return infer
    optimizer = torch.optim.SGD(net.train().parameters(), lr=1e-4, momentum=0.9)

    def step():
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
    return step


def work(net, calls):
    """Answer each line on the standard input with the time and the page faults of a call."""
    name, batch, *training = net.split(":")
    call = make_call(name, int(batch), bool(training))
    for _ in range(WARM_CALLS):
        call()
    print(json.dumps({"ready": net}), flush=True)
    for _ in sys.stdin:
        call()  # a process that has waited finds caches cold
        faults, times = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, []
        for _ in range(calls):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
        answer = {"time": statistics.median(times), "faults": faults / calls,
                  "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
        if "dragon" in sys.modules:
            stats = sys.modules["dragon"].memory_stats()
            answer["reserved"] = stats["peak_reserved"] / stats["peak"]
        print(json.dumps(answer), flush=True)


def measure(net, rounds, calls):
    """Return {side: answers} of a net."""
    command = [os.path.abspath(__file__), "--worker", net, "--calls", str(calls)]
    sides = {"dragon": [sys.executable, "-m", "dragon", "run", *command], "PyTorch": [sys.executable, *command]}
    if net.split(":")[0] not in OWN:
        del sides["PyTorch"]
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    workers = {side: subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
               for side, line in sides.items()}
    answers = {side: [] for side in sides}
    try:
        for worker in workers.values():
            worker.stdout.readline()
        for number in range(rounds):
            for side in list(sides)[::1 if number % 2 else -1]:
                workers[side].stdin.write("go\n")
                workers[side].stdin.flush()
                answers[side].append(json.loads(workers[side].stdout.readline()))
    finally:
        for worker in workers.values():
            worker.kill()
            worker.wait()
    return answers


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", default=NETS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=5)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options.worker, options.calls)
    heads = ("net", "batch", "", "faults a call, Dragon / PyTorch", "reserved / in use", "resident MiB, of both",
             "time, Dragon / PyTorch")
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for net in options.nets.split(","):
        answers = measure(net, options.rounds, options.calls)
        mine = answers["dragon"]
        name, batch, *training = net.split(":")
        cells = [f"`{name}`", batch, "training" if training else "inference",
                 " / ".join(f"{statistics.median(each['faults'] for each in side):.0f}" for side in answers.values()),
                 f"{max(each['reserved'] for each in mine):.2f}",
                 " / ".join(f"{max(each['resident'] for each in side):.0f}" for side in answers.values()),
                 f"{statistics.median(a['time'] / b['time'] for a, b in zip(mine, answers['PyTorch'])):.2f}"
                 if "PyTorch" in answers else "–"]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
