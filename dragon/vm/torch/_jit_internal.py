"""Marks for the script compiler, under the path that packages import them from."""
from dragon.vm.torch import jit
from dragon.vm.torch.core.sentences import named

Final, is_scripting, ignore, unused, export = jit.Final, jit.is_scripting, jit.ignore, jit.unused, jit.export
_overload, _overload_method = jit._overload, jit._overload_method


def _copy_to_script_wrapper(fn):
    """Return the function: a compiled module would keep it."""
    return fn


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """Return a function that calls one of two, as a flag among its arguments says."""
    def dispatch(*args, **kwargs):
        flag = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if flag else if_false)(*args, **kwargs)
    return named(dispatch, func_name or "dispatch", "Call one of two functions, as a flag says.")
