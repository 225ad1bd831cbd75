"""Write what a build links with to run on older Linux machines than this one, as wheels for `manylinux` have to.

    python tools/old_linux/stubs.py --glibc 2.28 --compiler g++ --to build/old_linux

Programs ask for the newest version of each function that the machine they were linked on had. The folder gets libraries
of the same names as the system's, empty but for their symbols, and of each symbol the newest version that the bound
allows: what is linked with them asks for no newer one. Nothing of them is loaded, ever. Symbols that came later are
taken out of the compiler's archives (libstdc++.a, libgcc.a) and of `missing.cc`, and what is found nowhere fails to
link. auditwheel's policies say which versions a bound allows.

In the folder lie what `-lc` and its like find, and libgomp; the empty libraries are in one below it, so that no program
that looks for its libraries where it was linked takes them for the system's.
"""
import argparse
import importlib.util
import json
import pathlib
import platform
import re
import subprocess
import sys
from typing import NamedTuple

from gomp import renew_gomp

STUBS = "symbols"
HERE = pathlib.Path(__file__).resolve().parent
SYSTEM = ("libc.so.6", "libm.so.6", "libmvec.so.1", "libstdc++.so.6", "libgcc_s.so.1")
# Lived in libraries of their own before glibc 2.34 had them move into libc, with a new version each.
MOVED = {"libpthread.so.0": re.compile(r"_*(pthread|sem)_"), "libdl.so.2": re.compile(r"dl"),
         "librt.so.1": re.compile(r"(shm|mq|aio|lio|timer)_")}
LINE = re.compile(r"\s*\d+: ([0-9a-f]+)\s+(\w+) (\w+)\s+\w+\s+\w+\s+(\w+) ([^@\s]+)@@?(\S+)")


class Symbol(NamedTuple):
    """A symbol that a library has, in one of its versions."""

    name: str
    version: str
    kind: str
    size: int
    address: int


def rank(version):
    """Return what sorts the versions of a symbol: GLIBC_2.4 comes before GLIBC_2.14."""
    return [int(number) for number in re.findall(r"\d+", version)]


def read_bounds(glibc):
    """Return the versions of symbols that machines with a glibc have, by auditwheel's policy for them."""
    found = importlib.util.find_spec("auditwheel")
    if not found:
        raise SystemExit("old_linux: got no auditwheel in this Python, expected what `make wheel` installs")
    place = pathlib.Path(found.origin).parent / "policy" / "manylinux-policy.json"
    policies = {policy["name"]: policy for policy in json.loads(place.read_text(encoding="utf-8"))}
    name = f"manylinux_{glibc.replace('.', '_')}"
    if name not in policies:
        raise SystemExit(f"old_linux: got {glibc}, expected the glibc of {', '.join(sorted(policies)[1:])}")
    versions = policies[name]["symbol_versions"][platform.machine()]
    return {f"{family}_{number}" for family, numbers in versions.items() for number in numbers}


def read_symbols(library):
    """Return the symbols that a shared library defines, every version of them."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, capture_output=True, text=True).stdout
    rows = (LINE.match(line) for line in text.splitlines())
    return [Symbol(name, version, kind, int(size, 0), int(address, 16))
            for address, size, kind, where, name, version in (row.groups() for row in rows if row)
            if where not in ("UND", "ABS")]


def choose(symbols, allowed):
    """Yield the newest allowed version of each symbol, and whether the library has a newer one."""
    newest, best = {}, {}
    for symbol in sorted(symbols, key=lambda symbol: rank(symbol.version)):
        newest[symbol.name] = symbol.version
        if symbol.version in allowed:
            best[symbol.name] = symbol
    for symbol in best.values():
        yield symbol, newest[symbol.name] not in allowed


def place_symbols(libraries, allowed):
    """Return {library: [Symbol]}: of every library that old machines have, what is there to link with."""
    placed = {name: [] for name in (*libraries, *MOVED)}
    for library, path in libraries.items():
        for symbol, outdated in choose(read_symbols(path), allowed):
            moved = [name for name, pattern in MOVED.items() if pattern.match(symbol.name)]
            placed[moved[0] if library == "libc.so.6" and outdated and moved else library].append(symbol)
    return placed


def write_assembly(symbols):
    """Return the assembly of symbols without contents; data that shared an address share one, as copies of it must."""
    lines = [".text"]
    spaces = {"OBJECT": '.section .bss, "aw", @nobits', "TLS": '.section .tbss, "awT", @nobits'}
    for symbol in symbols:
        if symbol.kind not in spaces:
            lines += [f".globl {symbol.name}", f".type {symbol.name}, STT_FUNC", f"{symbol.name}:"]
    for kind, section in spaces.items():
        lines.append(section)
        shared = {}
        for symbol in symbols:
            if symbol.kind == kind:
                shared.setdefault(symbol.address, []).append(symbol)
        for group in shared.values():
            lines.append(".balign 32")
            for symbol in group:
                lines += [f".globl {symbol.name}", f".type {symbol.name}, STT_{kind}",
                          f".size {symbol.name}, {symbol.size}", f"{symbol.name}:"]
            lines.append(f".zero {max(1, *(symbol.size for symbol in group))}")
    lines.append('.section .note.GNU-stack, "", @progbits')
    return "\n".join(lines) + "\n"


def write_versions(symbols):
    """Return the linker's script that gives each symbol its version."""
    nodes = {}
    for symbol in symbols:
        nodes.setdefault(symbol.version, []).append(symbol.name)
    blocks = []
    for version in sorted(nodes, key=rank):
        names = "".join(f'    "{name}";\n' for name in sorted(nodes[version]))
        blocks.append(f"{version} {{\n  global:\n{names}{'' if blocks else '  local: *;'}\n}};\n")
    return "".join(blocks)


def make_stub(name, symbols, compiler, folder):
    """Link an empty library of a name with its symbols."""
    (folder / f"{name}.s").write_text(write_assembly(symbols), encoding="utf-8")
    (folder / f"{name}.map").write_text(write_versions(symbols), encoding="utf-8")
    words = [f"-Wl,-soname,{name}", f"-Wl,--version-script={folder / name}.map", folder / f"{name}.s"]
    subprocess.run([compiler, "-shared", "-nostdlib", *words, "-o", folder / name], check=True)


def find_file(compiler, name):
    """Return the path of a file that the compiler links with."""
    said = subprocess.run([compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout
    path = pathlib.Path(said.strip())
    if not path.is_absolute():
        raise SystemExit(f"old_linux: got no {name} beside {compiler}, expected it in a system with glibc and g++")
    return path.resolve()


def make_archive(compiler, folder):
    """Compile what older machines lack and no archive of the compiler has; return the archive."""
    archive = folder / "libold_linux.a"
    objects = []
    for source in sorted(HERE.glob("*.cc")):
        objects.append(folder / f"{source.stem}.o")
        subprocess.run([compiler, "-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-c", source,
                        "-o", objects[-1]], check=True)
    archive.unlink(missing_ok=True)
    subprocess.run(["ar", "rcs", archive, *objects], check=True)
    return archive


def write_scripts(compiler, folder, archive):
    """Write the files that `-lc`, `-lm`, `-lstdc++` and `-lgcc_s` find: the stubs, and after them where the rest is."""
    loader = find_file(compiler, "ld-linux-x86-64.so.2")
    stubs = folder / STUBS
    later = " ".join(str(stubs / name) for name in MOVED)
    scripts = {
        "libc": f"{archive} {stubs}/libc.so.6 {find_file(compiler, 'libc_nonshared.a')} AS_NEEDED({later} {loader})",
        "libm": f"{stubs}/libm.so.6 AS_NEEDED({stubs}/libmvec.so.1)",
        "libstdc++": f"{stubs}/libstdc++.so.6 {find_file(compiler, 'libstdc++.a')}",
        "libgcc_s": f"{stubs}/libgcc_s.so.1 {find_file(compiler, 'libgcc.a')}",
    }
    for name, words in scripts.items():
        (folder / f"{name}.so").write_text(f"GROUP({words})\n", encoding="utf-8")


def main(arguments):
    """Fill the folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--glibc", required=True, help="the oldest to run with, such as 2.28")
    parser.add_argument("--compiler", required=True, help="the C++ compiler that links")
    parser.add_argument("--to", required=True, type=pathlib.Path, help="a folder, which is made")
    options = parser.parse_args(arguments)
    if platform.machine() != "x86_64":
        raise SystemExit(f"old_linux: got {platform.machine()}, expected x86_64; with DRAGON_OLDEST_GLIBC= elsewhere")
    folder = options.to.resolve()
    (folder / STUBS).mkdir(parents=True, exist_ok=True)
    allowed = read_bounds(options.glibc)
    libraries = {name: find_file(options.compiler, name) for name in SYSTEM}
    for name, symbols in place_symbols(libraries, allowed).items():
        make_stub(name, symbols, options.compiler, folder / STUBS)
    write_scripts(options.compiler, folder, make_archive(options.compiler, folder))
    renew_gomp(find_file(options.compiler, "libgomp.so.1"), folder / "libgomp.so", allowed, tuple(MOVED))


if __name__ == "__main__":
    main(sys.argv[1:])
