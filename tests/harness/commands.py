"""Programs of the system that tests start."""
import pathlib
import shutil
import sys


def find_tool(name):
    """Return a program's path: that of the environment the tests run in, the system's, or None."""
    beside = pathlib.Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)
