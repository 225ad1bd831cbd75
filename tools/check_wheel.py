"""Prove that a wheel stands alone: its tag, size, licences and headers, what its libraries need, an import elsewhere.

    python tools/check_wheel.py dist/dragon_engine-*.whl
"""
import email
import pathlib
import re
import subprocess
import sys
import tempfile
import venv
import zipfile

from requirements import read_project

LIMIT_MB = 100
# The oldest glibc that a wheel may ask for where it was not made in a container; PyPI refuses `linux_x86_64`.
TAG = re.compile(r"manylinux_2_(\d+)_(x86_64|aarch64)$")
NEWEST_GLIBC = 41
# What every Linux machine with glibc and a compiled Python has: the manylinux list, and glibc's vector mathematics.
SYSTEM = re.compile(r"(libc|libm|libmvec|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux-[\w-]+)\.so")
# What a library may ask for under no version: the interpreter's, and what libgomp has of glibc's old libraries.
UNVERSIONED = re.compile(r"_?Py|pthread_|dl")
# Libraries that may lie in a wheel, ours and those of THIRD_PARTY.md: nothing else gets in unseen.
OURS = re.compile(r"_C\.cpython-\d+-\w+-linux-gnu\.so|libdragon(_cpu(_v[234]|_generic)?|_fake|_cuda)?\.so")
ONEDNN = "libdnnl.so.3"
OTHERS = (ONEDNN, "libscipy_openblas.so", "libgomp.so.1")
LICENCES = {"LICENSE": "Apache License", "THIRD_PARTY.md": "libgomp", "oneDNN.txt": "Apache License",
            "oneDNN-third-party.txt": "XByak", "OpenBLAS-LAPACK-GCC.txt": "GCC RUNTIME LIBRARY EXCEPTION",
            "pybind11.txt": "Redistributions"}
HEADERS = ("dragon/include/core/framework/tensor.h", "dragon/include/core/framework/op.h",
           "dragon/cmake/dragonConfig.cmake", "dragon/cmake/dragonConfigVersion.cmake")
PROGRAM = """
import pathlib, sys, time
start = time.perf_counter()
import dragon
seconds = time.perf_counter() - start
assert pathlib.Path(dragon.__file__).is_relative_to(sys.prefix), dragon.__file__
assert dragon.__version__ == sys.argv[1], dragon.__version__
x = dragon.tensor([[1.0, 2.0], [3.0, 4.0]])
assert (x @ x).tolist() == [[7.0, 10.0], [15.0, 22.0]]
print(f"imported from {pathlib.Path(dragon.__file__).parent.name}/ in {seconds:.3f} s, 2 x 2 product is right")
"""


def read_dynamic(library):
    """Return the needed libraries and the run paths of a shared library."""
    text = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    paths = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text)
    return needed, [path for entry in paths for path in entry.split(":")]


def read_symbols(library):
    """Return the names that a shared library defines, and those that it asks of others under no version."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, capture_output=True, text=True).stdout
    rows = re.findall(r": [0-9a-f]+ +\w+ \w+ +(\w+) +\w+ +(\w+) (\S+)", text)
    defined = {name.partition("@")[0] for _, where, name in rows if where != "UND"}
    return defined, {name for bind, where, name in rows if where == "UND" and bind != "WEAK" and "@" not in name}


def check_symbols(libraries):
    """Raise SystemExit if a library asks for a symbol that was found nowhere when it was linked."""
    symbols = {library.name: read_symbols(library) for library in libraries}
    inside = set().union(*(defined for defined, _ in symbols.values()))
    for name, (_, asked) in symbols.items():
        lost = sorted(symbol for symbol in asked - inside if not UNVERSIONED.match(symbol))
        if lost:
            raise SystemExit(f"{name} asks for {', '.join(lost)}, which no library of the wheel or the system has")


def check_libraries(folder):
    """Raise SystemExit if a library is not one we know, needs something the wheel lacks, or looks outside it."""
    libraries = sorted(folder.rglob("*.so*"))
    inside = {library.name for library in libraries}
    strangers = sorted(name for name in inside if not OURS.fullmatch(name) and name not in OTHERS)
    if strangers:
        raise SystemExit(f"got {', '.join(strangers)} in the wheel, which THIRD_PARTY.md does not name")
    for library in libraries:
        needed, paths = read_dynamic(library)
        for name in needed:
            if name not in inside and not SYSTEM.match(name):
                raise SystemExit(f"{library.name} needs {name}, which is neither in the wheel nor on every machine")
        for path in paths:
            if not path.startswith("$ORIGIN"):
                raise SystemExit(f"{library.name} looks for libraries in {path}, expected a path below $ORIGIN")
        print(f"  {library.name:40} {library.stat().st_size / 1e6:7.1f} MB")
    check_symbols(libraries)


def check_name(name):
    """Raise SystemExit unless a wheel's file is called after the distribution, for machines that PyPI knows."""
    words = name.removesuffix(".whl").split("-")
    project = read_project()["project"]["name"].replace("-", "_")
    if len(words) != 5 or words[0] != project:
        raise SystemExit(f"got a wheel called {name}, expected {project}-<version>-<python>-<abi>-<platform>.whl")
    tags = [TAG.search(tag) for tag in words[4].split(".")]
    if not all(tags) or any(int(tag.group(1)) > NEWEST_GLIBC for tag in tags):
        raise SystemExit(f"got a wheel for {words[4]}, expected manylinux_2_<up to {NEWEST_GLIBC}>")


def check_contents(folder):
    """Raise SystemExit if a licence, a header or a line of the metadata is missing; return the release."""
    metadata, = folder.glob("*.dist-info")
    has_onednn = any(folder.rglob(ONEDNN))
    for name, words in LICENCES.items():
        if name.startswith("oneDNN") and not has_onednn:
            continue  # Dragon's own kernels do its work on ARM
        found = [path.read_text(encoding="utf-8", errors="replace") for path in (metadata / "licenses").rglob(name)]
        if not any(words in text for text in found):
            raise SystemExit(f"got no licenses/{name} with the words {words!r} in the wheel, expected it")
    missing = [name for name in HEADERS if not (folder / name).is_file()]
    if missing:
        raise SystemExit(f"got no {', '.join(missing)} in the wheel, expected what programs in C++ need")
    said = email.message_from_string((metadata / "METADATA").read_text(encoding="utf-8"))
    if said["Name"] != read_project()["project"]["name"] or said["License-Expression"] != "Apache-2.0":
        raise SystemExit(f"got {said['Name']} under {said['License-Expression']}, expected what pyproject.toml says")
    return said["Version"]


def main(wheel):
    """Check one wheel."""
    megabytes = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {megabytes:.1f} MB")
    check_name(wheel.name)
    if megabytes > LIMIT_MB:
        raise SystemExit(f"the wheel has {megabytes:.1f} MB, expected at most {LIMIT_MB}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "contents")
        check_libraries(folder / "contents")
        version = check_contents(folder / "contents")
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True)
        subprocess.run([python, "-c", PROGRAM, version], check=True, cwd=folder)


if __name__ == "__main__":
    main(max((pathlib.Path(name).resolve() for name in sys.argv[1:]), key=lambda path: path.stat().st_mtime))
