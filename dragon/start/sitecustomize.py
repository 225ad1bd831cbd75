"""The start of child processes where Dragon is not installed: what `dragon run` puts into PYTHONPATH is this folder.

Python imports one `sitecustomize`, the first in its path: this one hands on to the one behind it.
"""
import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PARENT = "DRAGON_PARENT"  # which Python, of which environment: another could not import what this one can


def follow():
    """Have the guests of the parent, where this is the same Python."""
    if os.environ.get(PARENT) == f"{sys.implementation.cache_tag} {sys.prefix}":
        import dragon_guests  # noqa: F401: begins by itself


def hand_on():
    """Run the `sitecustomize` that would have been found without this one."""
    path = [place for place in sys.path if os.path.abspath(place) != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


follow()
hand_on()
