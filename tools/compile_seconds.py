#!/usr/bin/env python3
"""How long the units of a build took to compile, and what they compile to.

    python tools/compile_seconds.py build/here                          the longest units that ninja's log knows
    python tools/compile_seconds.py build/here --again vision/grid_ ... compile these anew: processor time, code

Ninja's log has the time on the clock, which other work on the machine lengthens: it tells which units to look at.
Processor time, which `--again` measures without a cache of compiled files, can be compared.
"""
import argparse
import json
import os
import pathlib
import resource
import shlex
import struct
import subprocess
import sys
import tempfile


def text_bytes(path):
    """Return how many bytes of machine code an ELF file of 64 bits has, an object or a library."""
    data = pathlib.Path(path).read_bytes()
    if data[:5] != b"\x7fELF\x02":
        raise ValueError(f"text_bytes: got {path}, expected an ELF file of 64 bits")
    at, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    total = 0
    for header in range(at, at + size * count, size):
        flags, _, _, length = struct.unpack_from("<QQQQ", data, header + 8)
        total += length if flags & 4 else 0  # a section that is executed
    return total


def read_log(build):
    """Return {output: seconds on the clock} of the latest time that each was made."""
    seconds = {}
    for line in (pathlib.Path(build) / ".ninja_log").read_text().splitlines():
        if not line.startswith("#"):
            begin, end, _, output, _ = line.split("\t")
            seconds[output] = (int(end) - int(begin)) / 1000
    return {output: spent for output, spent in seconds.items() if output.endswith((".o", ".gch"))}


def compile_again(entry, folder):
    """Compile a unit of compile_commands.json into `folder`; return (processor seconds, bytes of code)."""
    words = shlex.split(entry["command"])
    first = next(i for i, word in enumerate(words) if word.endswith(("c++", "g++", "clang++")))  # behind the cache
    words = words[first:]
    unit = os.path.join(folder, "unit.o")
    words[words.index("-o") + 1] = unit
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=entry["directory"], check=True, env={**os.environ, "CCACHE_DISABLE": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, text_bytes(unit)


def print_again(build, parts):
    """Print a line for each unit whose path has one of the parts."""
    entries = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    chosen = [entry for entry in entries if any(part in entry["output"] for part in parts)]
    if not chosen:
        sys.exit(f"compile_seconds: got {' '.join(parts)}, expected a part of a unit's path in {build}")
    print(f"{'s':>7} {'code, KB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for entry in chosen:
            spent, code = compile_again(entry, folder)
            print(f"{spent:7.1f} {code / 1000:9.1f}  {entry['output'].split('CMakeFiles/')[-1]}", flush=True)


def print_log(build, count):
    """Print the units that took longest, and the sum of all."""
    seconds = read_log(build)
    for output, spent in sorted(seconds.items(), key=lambda item: -item[1])[:count]:
        path = pathlib.Path(build) / output
        code = f"{text_bytes(path) / 1000:9.1f}" if path.exists() and output.endswith(".o") else f"{'':9}"
        print(f"{spent:7.1f} {code}  {output.split('CMakeFiles/')[-1]}")
    print(f"{sum(seconds.values()):7.1f} {'':9}  {len(seconds)} units")


def main():
    """Read the command line and print one of the two tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", help="the folder of a build")
    parser.add_argument("--again", nargs="+", metavar="PART", help="compile the units whose paths have a part")
    parser.add_argument("--count", type=int, default=30, help="how many of the log's units to print")
    arguments = parser.parse_args()
    if arguments.again:
        print_again(arguments.build, arguments.again)
    else:
        print_log(arguments.build, arguments.count)


if __name__ == "__main__":
    main()
