"""Plugins of other people's operators, which are compiled for DALI."""
from dragon.vm.dali.core.refusals import absent as _absent


def load_library(library_path, global_symbols=False):
    """Refuse: operators that were compiled for DALI do not run here.

    Parameters
    ----------
    library_path : str
        The library.
    global_symbols : bool, optional, default=False
        How it would be loaded.

    """
    raise _absent(f"plugin_manager.load_library({library_path!r})", "fn.python_function calls functions of Python")
