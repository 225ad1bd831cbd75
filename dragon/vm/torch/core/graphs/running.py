"""Generated code: run, and shown where it fails."""
import itertools
import linecache
import sys
import traceback
import types
import weakref

_numbers = itertools.count()
_ROOT = __name__.rpartition(".core.graphs.")[0]


def _exec_with_source(src, globals, co_fields=None):
    """Run text whose lines tracebacks show for as long as its functions are there."""
    file = f"<eval_with_key>.{next(_numbers)}"
    if co_fields:
        file += f" from {co_fields['co_filename']}:{co_fields['co_firstlineno']} in {co_fields['co_name']}"
    linecache.cache[file] = len(src), None, src.splitlines(True), file
    code = compile(src, file, "exec")
    exec(code, globals)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            weakref.finalize(inner, linecache.cache.pop, file, None).atexit = False
            break


def _method_from_src(method_name, src, globals, co_fields=None):
    names = dict(globals)
    _exec_with_source(src, names, co_fields)
    return names.pop(method_name)


def _forward_from_src(src, globals, co_fields=None):
    return _method_from_src("forward", src, globals, co_fields)


class _WrappedCall:
    """The call of a module of a graph: where it fails, the generated line is shown.

    Parameters
    ----------
    cls : type
        The module's class.
    cls_call : Callable, optional
        The `__call__` that the class defines itself.

    """

    def __init__(self, cls, cls_call):
        self.cls, self.cls_call = cls, cls_call

    def __call__(self, obj, *args, **kwargs):
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            return super(self.cls, obj).__call__(*args, **kwargs)
        except Exception as error:
            frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)
                      if not frame.f_globals.get("__name__", "").startswith(_ROOT)]
            if not frames or not frames[-1].f_code.co_filename.startswith("<eval_with_key>"):
                raise
            if self._is_of_a_layer(error.__traceback__, frames[-1]):
                raise
            lines = {id(frame): line for frame, line in traceback.walk_tb(error.__traceback__)}
            self._show(frames[-1].f_code.co_filename, lines[id(frames[-1])])
            raise error.with_traceback(None)

    @staticmethod
    def _is_of_a_layer(trace, frame):
        """Return whether what failed is within a layer that the generated code calls, and no line of the code's own."""
        inner = [other for other, _ in traceback.walk_tb(trace)]
        return any(other.f_globals.get("__name__", "").startswith(f"{_ROOT}.nn.modules")
                   for other in inner[inner.index(frame) + 1:])

    @staticmethod
    def _show(file, line):
        """Print the line that failed, with those around it, to the standard error."""
        source = linecache.getlines(file)
        before = "".join(source[max(line - 3, 0):line])
        after = "".join(source[line:line + 2])
        print(f"Call using an FX-traced Module, line {line} of the traced Module's generated forward function:\n"
              f"{before}\n~~~ <--- HERE\n{after}", file=sys.stderr)
