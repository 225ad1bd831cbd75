"""Programs of `tools` and `benchmarks`, and files of `docs`, which lie in no package, as modules."""
import importlib.util
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(path):
    """Return a file of the repository as a module; what lies beside it can be imported while it is read.

    Parameters
    ----------
    path : str
        Relative to the repository.

    Returns
    -------
    types.ModuleType
        A new one.

    """
    file = ROOT / path
    sys.path.insert(0, str(file.parent))
    try:
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
    return module
