"""Collect the licences of what a wheel carries from others, from the packages and the compiler they came with.

    python tools/third_party.py FOLDER [NAME...]

FOLDER gets one file for each, but for packages whose names follow: this wheel is without them. What is found nowhere
on this machine is told by name, and ends the build.
THIRD_PARTY.md says what each is for.
"""
import importlib.metadata
import pathlib
import shutil
import sys

# Name in the wheel -> (distribution, the ends of its files' paths that will do, best first).
PACKAGES = {
    "oneDNN.txt": ("onednn-cpu-gomp", ("dist-info/LICENSE.txt", "doc/onednn/LICENSE")),
    "oneDNN-third-party.txt": ("onednn-devel-cpu-gomp", ("doc/onednn/THIRD-PARTY-PROGRAMS",)),
    # OpenBLAS, LAPACK, and GCC's runtime libraries: GPL-3.0 with the exception, which is libgomp's licence as well.
    "OpenBLAS-LAPACK-GCC.txt": ("scipy-openblas32", ("licenses/LICENSE.txt", "dist-info/LICENSE.txt")),
    "pybind11.txt": ("pybind11", ("licenses/LICENSE", "dist-info/LICENSE")),
}
# A licence that does not say these words is not the one meant.
WORDS = {
    "oneDNN.txt": ("Apache License",),
    "oneDNN-third-party.txt": ("XByak",),
    "OpenBLAS-LAPACK-GCC.txt": ("OpenBLAS", "LAPACK", "GCC RUNTIME LIBRARY EXCEPTION", "GNU GENERAL PUBLIC LICENSE"),
    "pybind11.txt": ("Redistributions",),
}


def find_licence(distribution, ends):
    """Return the path of a licence of an installed distribution, or None."""
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for end in ends:
        for file in files:
            path = pathlib.Path(file.locate())
            if path.as_posix().endswith(end) and path.is_file():
                return path.resolve()
    return None


def collect(folder, without=()):
    """Write the licences into a folder, but for some packages'; raise SystemExit with all that are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = []
    unknown = set(without) - {distribution for distribution, ends in PACKAGES.values()}
    if unknown:
        raise SystemExit(f"third_party: got {', '.join(sorted(unknown))}, expected packages that a wheel may carry")
    for name, (distribution, ends) in PACKAGES.items():
        if distribution in without:
            continue
        path = find_licence(distribution, ends)
        if path is None:
            missing.append(f"{name}: {distribution} has no {' nor '.join(ends)}")
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        absent = [word for word in WORDS[name] if word.lower() not in text.lower()]
        if absent:
            missing.append(f"{name}: {path.name} of {distribution} does not say {', '.join(absent)}")
        else:
            shutil.copyfile(path, folder / name)
    if missing:
        raise SystemExit("third_party: got no licence to put into the wheel for\n  " + "\n  ".join(missing))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    collect(pathlib.Path(sys.argv[1]), sys.argv[2:])
