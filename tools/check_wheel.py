"""Prove that a wheel stands alone: its size, what its libraries need, and an import in a fresh environment elsewhere.

    python tools/check_wheel.py dist/dragon-*.whl
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import venv
import zipfile

LIMIT_MB = 100
# What every Linux machine with glibc and a compiled Python has: the manylinux list, and glibc's vector mathematics.
SYSTEM = re.compile(r"(libc|libm|libmvec|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so")
PROGRAM = """
import pathlib, sys, time
start = time.perf_counter()
import dragon
seconds = time.perf_counter() - start
assert pathlib.Path(dragon.__file__).is_relative_to(sys.prefix), dragon.__file__
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


def check_libraries(folder):
    """Raise SystemExit if a library needs something the wheel lacks, or looks outside it."""
    libraries = sorted(folder.rglob("*.so*"))
    inside = {library.name for library in libraries}
    for library in libraries:
        needed, paths = read_dynamic(library)
        for name in needed:
            if name not in inside and not SYSTEM.match(name):
                raise SystemExit(f"{library.name} needs {name}, which is neither in the wheel nor on every machine")
        for path in paths:
            if not path.startswith("$ORIGIN"):
                raise SystemExit(f"{library.name} looks for libraries in {path}, expected a path below $ORIGIN")
        print(f"  {library.name:40} {library.stat().st_size / 1e6:7.1f} MB")


def main(wheel):
    """Check one wheel."""
    megabytes = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {megabytes:.1f} MB")
    if megabytes > LIMIT_MB:
        raise SystemExit(f"the wheel has {megabytes:.1f} MB, expected at most {LIMIT_MB}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "contents")
        check_libraries(folder / "contents")
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True)
        subprocess.run([python, "-c", PROGRAM], check=True, cwd=folder)


if __name__ == "__main__":
    main(max((pathlib.Path(name).resolve() for name in sys.argv[1:]), key=lambda path: path.stat().st_mtime))
