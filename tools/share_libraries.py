"""Let the checkout use what was built of the Dragon that was just installed: its libraries, and stubs for editors.

The files are hard links where the file system has them, so they take no room, and a build in place leaves the
installed ones alone: a linker writes its result anew.
"""
import argparse
import importlib.util
import os
import pathlib
import shutil

CHECKOUT = pathlib.Path(__file__).resolve().parents[1] / "dragon"


def find_installed():
    """Return the folder of the installed package: this script's folder is searched first, not the checkout."""
    spec = importlib.util.find_spec("dragon")
    return pathlib.Path(spec.origin).parent if spec and spec.origin else None


def share(source, target):
    """Put the compiled files of a package into another folder, in the place of older ones; return their names."""
    for old in target.glob("_C.*so"):
        old.unlink()
    shutil.rmtree(target / "lib", ignore_errors=True)
    (target / "lib").mkdir(parents=True)
    for old in target.rglob("*.pyi"):
        old.unlink()
    found = [*source.glob("_C.*so"), *(path for path in (source / "lib").iterdir() if path.is_file()),
             *source.glob("py.typed"), *source.rglob("*.pyi")]
    for path in found:
        copy = target / path.relative_to(source)
        copy.unlink(missing_ok=True)
        if not copy.parent.exists():
            continue  # of a module that the checkout has no longer
        try:
            os.link(path, copy)
        except OSError:  # another file system
            shutil.copy2(path, copy)
    return sorted(str(path.relative_to(source)) for path in found)


def main():
    """Parse the arguments, share."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--to", type=pathlib.Path, default=CHECKOUT, help="the folder of the sources")
    target = parser.parse_args().to.resolve()
    source = find_installed()
    if source is None:
        raise SystemExit("share_libraries: got no installed dragon, expected one in this Python's environment")
    if source.resolve() != target:
        share(source, target)


if __name__ == "__main__":
    main()
