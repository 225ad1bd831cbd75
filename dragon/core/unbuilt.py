"""What `import dragon` says where the compiled part does not stand beside the sources."""
import importlib.machinery
import pathlib

FOLDER = pathlib.Path(__file__).parents[1]


def explain(error):
    """Return the error to raise when `dragon._C` cannot be imported.

    Parameters
    ----------
    error : ImportError
        What the import raised.

    Returns
    -------
    ImportError
        The same error, unless no library for this Python is there.

    """
    built = sorted(path.name for path in FOLDER.glob("_C.*so"))
    wanted = ["_C" + suffix for suffix in importlib.machinery.EXTENSION_SUFFIXES]
    if not set(built).isdisjoint(wanted):
        return error
    got = f"a compiled part for another Python ({', '.join(built)})" if built else "no compiled part"
    return ImportError(
        f"dragon: got {got} in {FOLDER}, expected {wanted[0]}: in a checkout `make install` or `make build` makes it, "
        "for the Python in .venv/bin; started in another folder, Python finds the Dragon that is installed",
        name="dragon._C")
