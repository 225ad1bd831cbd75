#!/usr/bin/env python3
"""What the kernels of a built CUDA library take of a multiprocessor: registers, stack, shared memory.

    python tools/kernel_usage.py build/cuda/lib/libdragon_cuda.so                 print the table
    python tools/kernel_usage.py LIBRARY --write docs/benchmarks/cuda-kernels.md  keep it
    python tools/kernel_usage.py LIBRARY --check docs/benchmarks/cuda-kernels.md  fail where a kernel takes more stack

The stack holds what a kernel could not keep in registers (spills), and arrays that it indexes by what is known only
when it runs. `cuobjdump` reads the library: it stands beside nvcc, in the path, or comes by `pip install
nvidia-cuda-cuobjdump`. Figures are those of one architecture and one compiler: with another one nothing is compared.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig

ARCHITECTURE = "sm_90"
# Of a multiprocessor of that architecture: registers, threads, blocks, bytes of shared memory. A warp's registers and a
# block's shared memory come in steps, and a block has some of that for the system.
REGISTERS, THREADS, BLOCKS, SHARED = 65536, 2048, 32, 228 * 1024
REGISTER_STEP, SHARED_STEP, SHARED_OF_SYSTEM = 256, 128, 1024
USUAL_BLOCK = 256
# Launches with other blocks than the usual one, where they are always of that size.
BLOCKS_OF = {"SumsBeforeKernel": 1024, "TensorForward": 128, "TensorBackward": 128}
COLUMNS = ("kernel", "instances", "registers, median", "registers, most", "with a stack", "stack, most bytes",
           "shared, most bytes", "threads at a time")
TITLE = "# What kernels take of a GPU"
NAME = re.compile(r"_ZN?(?P<rest>.*)")


class UsageError(Exception):
    """What the user has to know, in a sentence."""


def find_cuobjdump():
    """Return the path of cuobjdump."""
    packages = pathlib.Path(sysconfig.get_paths()["purelib"])
    nvcc = shutil.which("nvcc")
    places = [os.environ.get("CUOBJDUMP"), shutil.which("cuobjdump"),
              nvcc and pathlib.Path(nvcc).resolve().parent / "cuobjdump",
              *sorted(packages.glob("nvidia/*/bin/cuobjdump"))]
    for place in places:
        if place and os.access(place, os.X_OK):
            return os.fspath(place)
    raise UsageError("found no cuobjdump, expected one beside nvcc, in the path, or that of pip install "
                     "nvidia-cuda-cuobjdump")


def compiler():
    """Return the release of nvcc, such as V13.0.88."""
    if not shutil.which("nvcc"):
        raise UsageError("found no nvcc, expected the one that built the library")
    words = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"\bV[\d.]+", words)[0]


def kernel_name(symbol):
    """Return the name of a kernel without its namespaces and template arguments.

    Parameters
    ----------
    symbol : str
        As linkers know it.

    """
    match = NAME.fullmatch(symbol)
    rest, names = match["rest"] if match else symbol, []
    while part := re.match(r"L?(\d+)", rest):
        begin = part.end()
        names.append(rest[begin:begin + int(part[1])])
        rest = rest[begin + int(part[1]):]
    if not names:
        return symbol
    return f"cub::{names[-1]}" if names[0] == "cub" else names[-1]


def read_usage(text):
    """Return {architecture: {symbol: (registers, stack, shared)}} of what cuobjdump says."""
    found, architecture, symbol = collections.defaultdict(dict), None, None
    for line in text.splitlines():
        if match := re.match(r"arch = (\w+)", line.strip()):
            architecture = match[1]
        elif match := re.match(r"Function (\S+?):?$", line.strip()):
            symbol = match[1]
        elif symbol and (match := re.search(r"REG:(\d+) STACK:(\d+) SHARED:(\d+)", line)):
            found[architecture][symbol] = tuple(map(int, match.groups()))
            symbol = None
    return found


def threads_at_a_time(registers, shared, block):
    """Return how many threads of blocks of a size fit into a multiprocessor at once."""
    warps = -(-block // 32)
    of_warp = -(-registers * 32 // REGISTER_STEP) * REGISTER_STEP
    of_block = max(-(-shared // SHARED_STEP) * SHARED_STEP, SHARED_OF_SYSTEM)  # it is counted with what a block has
    blocks = min(THREADS // (32 * warps), BLOCKS, REGISTERS // (of_warp * warps), SHARED // of_block)
    return blocks * 32 * warps


def summarize(usage):
    """Return a table's rows, as strings, of {symbol: (registers, stack, shared)}."""
    families = collections.defaultdict(list)
    for symbol, numbers in usage.items():
        families[kernel_name(symbol)].append(numbers)
    rows = []
    for name, all_numbers in sorted(families.items(), key=lambda item: item[0].lower()):
        registers, stacks, shared = zip(*all_numbers)
        block = BLOCKS_OF.get(name, USUAL_BLOCK)
        fit = [threads_at_a_time(of_one, of_shared, block) for of_one, _, of_shared in all_numbers]
        rows.append([f"`{name}`", len(all_numbers), int(statistics.median(registers)), max(registers),
                     sum(stack > 0 for stack in stacks), max(stacks), max(shared),
                     f"{min(fit):,}" if min(fit) == max(fit) else f"{min(fit):,} to {max(fit):,}"])
    return [[str(cell) for cell in row] for row in rows]


def page_of(rows, release):
    """Return the page with a table."""
    kernels, stacked = sum(int(row[1]) for row in rows), sum(int(row[4]) for row in rows)
    lines = ["| " + " | ".join(cells) + " |" for cells in (COLUMNS, ["---"] + ["---:"] * 7, *rows)]
    return f"""{TITLE}

Registers, stacks and shared memory of the {kernels:,} kernels of `libdragon_cuda.so` for {ARCHITECTURE}, by nvcc
{release}; {stacked} of them have a stack. A row has all kernels of a name: what functors, dtypes and widths make of it.

`make cuda` fails where a kernel has a stack that is not in this table, or a larger one. A stack is what did not fit
into registers, or an array whose subscripts only the run knows, and lies in memory. Slow paths of functions (the
remainder of a large sine's argument) have one as well, which calls do not touch.
`tools/kernel_usage.py LIBRARY --write PAGE` keeps another table.

Threads at a time are how many of a multiprocessor's {THREADS:,} registers and static shared memory allow for blocks of
{USUAL_BLOCK} (some kernels have others); kernels that ask for shared memory when they are launched may have fewer.

""" + "\n".join(lines) + "\n"


def read_page(text):
    """Return (release of the compiler, {kernel: (instances with a stack, most bytes)}) of a page."""
    release = re.search(r"by nvcc\s+(V[\d.]+)", text)
    if not release:
        raise UsageError("found no table in the page, expected one that --write made")
    rows = re.findall(r"^\| `(.+?)` \|(.*)\|$", text, re.MULTILINE)
    cells = {name: [cell.strip() for cell in rest.split("|")] for name, rest in rows}
    return release[1].rstrip("."), {name: (int(row[3]), int(row[4])) for name, row in cells.items()}


def differences(rows, kept):
    """Return a sentence for each kernel that takes more stack than a kept table says."""
    found = []
    for name, _, _, _, count, most, *_ in rows:
        counted, largest = kept.get(name.strip("`"), (0, 0))
        if int(most) > largest:
            found.append(f"{name}: got a stack of {most} bytes, expected at most {largest}")
        elif int(count) > counted:
            found.append(f"{name}: got {count} instances with a stack, expected at most {counted}")
    return found


def main(arguments=None):
    """Print, keep or compare a library's table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--check", type=pathlib.Path, metavar="PAGE")
    options = parser.parse_args(arguments)
    try:
        command = [find_cuobjdump(), "-res-usage", os.fspath(options.library)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        usage = read_usage(done.stdout).get(ARCHITECTURE)
        if not usage:
            raise UsageError(f"found no code for {ARCHITECTURE} in {options.library} {done.stderr.strip()}")
        rows, release = summarize(usage), compiler()
        if options.write:
            options.write.write_text(page_of(rows, release), encoding="utf-8")
        elif options.check:
            of_page, kept = read_page(options.check.read_text(encoding="utf-8"))
            if of_page != release:
                print(f"kernel_usage: {options.check} is of nvcc {of_page}, and this is {release}: nothing is compared")
                return 0
            found = differences(rows, kept)
            for sentence in found:
                print(f"kernel_usage: {sentence}", file=sys.stderr)
            if found:
                print(f"kernel_usage: keep them in registers, or have {options.check} say so: tools/kernel_usage.py "
                      f"{options.library} --write {options.check}", file=sys.stderr)
                return 1
            print(f"kernel_usage: {len(usage)} kernels, none with more stack than {options.check} says")
        else:
            print(page_of(rows, release))
    except (UsageError, OSError) as error:
        print(f"kernel_usage: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
