"""Marks for the script compiler, under the path that packages import them from."""
from dragon.vm.torch import jit
from dragon.vm.torch.core.functions.notes import (  # noqa: F401
    BroadcastingList1, BroadcastingList2, BroadcastingList3, boolean_dispatch)

Final, is_scripting, ignore, unused, export = jit.Final, jit.is_scripting, jit.ignore, jit.unused, jit.export
_overload, _overload_method = jit._overload, jit._overload_method


def _copy_to_script_wrapper(fn):
    """Return the function: a compiled module would keep it."""
    return fn
