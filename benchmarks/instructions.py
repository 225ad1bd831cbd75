"""Count the machine's instructions in a call on tiny tensors: the same on a busy machine as on an idle one.

    python benchmarks/instructions.py                                # every call
    python benchmarks/instructions.py add sum --against ../before    # beside the Dragon built in another checkout

Needs valgrind (`apt-get install valgrind`), which knows no AVX-512: kernels are those of level v3. A process makes
1,000 calls and another one 6,000; what lies between them are 5,000 calls.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CALLS = {
    "add": "ops.add(a, b)",
    "relu": "ops.relu(a)",
    "sum": "ops.sum(a)",
    "softmax": "ops.softmax(a, -1)",
    "matmul": "ops.matmul(a, b)",
    "linear": "ops.linear(a, b, row)",
    "layer_norm": "ops.layer_norm(a, (8,), row, row)",
    "transpose": "ops.transpose(a, 0, 1)",
}
PROGRAM = """
import dragon
from dragon import ops
a, b, row = (dragon.tensor([[1.0] * 8] * 8), dragon.tensor([[2.0] * 8] * 8), dragon.tensor([1.0] * 8))
for _ in range({times}):
    {call}
"""
FEW, MANY = 1000, 6000


def count(call, times, folder, checkout=None):
    """Return the instructions of a process that makes a call so many times."""
    environment = dict(os.environ, PYTHONHASHSEED="0", DRAGON_CPU_LEVEL="v3", OMP_NUM_THREADS="1",
                       DRAGON_NUM_THREADS="1")
    if checkout:
        environment["PYTHONPATH"] = str(checkout.resolve())
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts", sys.executable, "-c",
         PROGRAM.format(times=times, call=call)],
        check=True, capture_output=True, text=True, env=environment, cwd=folder)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def count_call(call, folder, checkout=None):
    """Return the instructions of one call, of the Dragon that was built in a checkout, if one is given."""
    return (count(call, MANY, folder, checkout) - count(call, FEW, folder, checkout)) / (MANY - FEW)


def main():
    """Parse the arguments, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", nargs="*", choices=[[], *CALLS], metavar="call", help=", ".join(CALLS))
    parser.add_argument("--against", type=pathlib.Path, metavar="FOLDER", help="another checkout, built in place")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in args.calls or CALLS:
            mine = count_call(CALLS[name], folder)
            line = f"{CALLS[name]}  {mine:,.0f}"
            if args.against:
                other = count_call(CALLS[name], folder, args.against)
                line += f"  {other:,.0f}  {mine / other:.3f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
