"""Measure Dragon beside PyTorch and write the tables into docs/benchmarks.

    python benchmarks/run.py                        # every group
    python benchmarks/run.py gemm attention         # some groups
    python benchmarks/run.py memory --case exp      # some cases, printed only
    python benchmarks/run.py --against ../before    # beside the Dragon built in another checkout, printed only
"""
import argparse
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import harness

GROUPS = {
    "dispatch": "Tiny tensors: the framework's own time",
    "training": "Small training steps",
    "gemm": "Matrix products",
    "memory": "Ten million floats into fresh outputs",
    "reduction": "Reductions and normalisations",
    "convolution": "The convolutions of ResNet-50, batch 8",
    "attention": "Attention",
    "decomposition": "Linear algebra",
    "signal": "Fourier transforms and resizing",
}
FOLDER = harness.HERE.parent / "docs" / "benchmarks"


def compile_machine(folder):
    """Return the compiled program that measures the machine's limits."""
    program = pathlib.Path(folder) / "machine"
    subprocess.run(["g++", "-O3", "-march=native", "-mprefer-vector-width=512", "-fopenmp",
                    str(harness.HERE / "machine.cc"), "-o", str(program)], check=True)
    return program


def measure_machine(program, args):
    """Return bandwidth and arithmetic peak: the best of several runs, since both are limits."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(harness.THREADS))
    command = ["nice", "-n", str(args.nice), str(program), "0.2"]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)
            for _ in range(args.rounds)]
    return {name: max(run[name] for run in runs) for name in ("bandwidth", "flops")}


def sum_up(group, module, measured):
    """Return a sentence on the total of a group that has weights, else nothing."""
    if not hasattr(module, "WEIGHTS"):
        return ""
    known = [(weight, results) for weight, (_, results) in zip(module.WEIGHTS, measured)
             if not any("error" in result for result in results)]
    if not known:
        return ""
    dragon, torch = (sum(weight * statistics.median(results[place]["times"]) for weight, results in known)
                     for place in range(2))
    return (f"\nIn total, each case as often as the net has it: dragon {harness.format_time(dragon)}, "
            f"PyTorch {harness.format_time(torch)}, ratio {dragon / torch:.2f} (aim {module.TOTAL_AIM}).\n")


def run_group(group, args, program):
    """Measure one group and return its page."""
    module = importlib.import_module("cases." + group)
    cases = [case for case in module.CASES if args.case in case.name]
    other = harness.Worker("dragon", args.nice, args.against) if args.against else harness.Worker("torch", args.nice)
    workers = [harness.Worker("dragon", args.nice), other]
    machine = measure_machine(program, args)
    versions, measured = [], []
    try:
        versions = [worker.ask(version=True)["version"] for worker in workers]
        for case in cases:
            measured.append((case, harness.measure(case, group, workers, args.rounds, args.seconds)))
            print("  ".join(harness.make_row(case, measured[-1][1], machine)), flush=True)
    finally:
        for worker in workers:
            worker.close()
    limit = f"{machine['bandwidth'] / 1e9:.0f} GB/s, {machine['flops'] / 1e9:.0f} GFLOP/s"
    rows = [harness.make_row(case, results, machine) for case, results in measured]
    return "\n".join([
        f"# {GROUPS[group]}", "", module.__doc__, "",
        f"{versions[0]}; {versions[1]}; {harness.THREADS} threads each.",
        f"{harness.describe_processor()}, measured limit {limit}.",
        f"Medians of {args.rounds} interleaved rounds. Made by", "",
        f"    python benchmarks/run.py {group} --rounds {args.rounds} --seconds {args.seconds}", "",
        harness.make_table(rows), sum_up(group, module, measured)])


def main():
    """Parse the arguments, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", choices=[[], *GROUPS], metavar="group", help=", ".join(GROUPS))
    parser.add_argument("--case", default="", help="only cases whose name contains this; nothing is written")
    parser.add_argument("--against", type=pathlib.Path, metavar="FOLDER",
                        help="another checkout, built in place: takes PyTorch's turn; nothing is written")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2, help="of one turn of one engine")
    parser.add_argument("--nice", type=int, default=0, help="priority; -19 (as root) on a machine that others use")
    args = parser.parse_args()
    sys.path.insert(0, str(harness.HERE))
    with tempfile.TemporaryDirectory() as folder:
        program = compile_machine(folder)
        for group in args.groups or GROUPS:
            print(f"== {GROUPS[group]}")
            page = run_group(group, args, program)
            if not args.case and not args.against:
                FOLDER.mkdir(parents=True, exist_ok=True)
                (FOLDER / f"{group}.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
