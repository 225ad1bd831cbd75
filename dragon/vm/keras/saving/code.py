"""Lambdas as data, as Keras writes them: marshalled byte code, which is read only where the user asks for it."""
import base64
import marshal
import types


def dump_function(function):
    """Return a function's code, defaults and closure as data.

    Parameters
    ----------
    function : Callable
        The function.

    """
    closure = tuple(cell.cell_contents for cell in function.__closure__ or ())
    return {"code": base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii"),
            "defaults": function.__defaults__, "closure": closure or None}


def load_function(data, globals_=None):
    """Return the function of what `dump_function` returned.

    Parameters
    ----------
    data : Union[dict, Sequence]
        The data.
    globals_ : Dict[str, Any], optional
        What the function's names mean.

    """
    if isinstance(data, dict):
        data = [data[name] for name in ("code", "defaults", "closure")]
    code, defaults, closure = data
    code = marshal.loads(base64.b64decode(code))
    defaults = tuple(tuple(value) if isinstance(value, list) else value for value in defaults or ()) or None
    cells = tuple(types.CellType(value) for value in closure) if closure else None
    return types.FunctionType(code, globals_ or {"__builtins__": __builtins__}, name=code.co_name, argdefs=defaults,
                              closure=cells)


def func_dump(func):
    """Return a function's code, defaults and closure."""
    data = dump_function(func)
    return data["code"].replace("\n", ""), data["defaults"], data["closure"]


def func_load(code, defaults=None, closure=None, globs=None):
    """Return the function of what `func_dump` returned: given at once, or one by one."""
    if isinstance(code, (tuple, list)):
        code, defaults, closure = code
    return load_function((code, defaults, closure), globals() if globs is None else globs)
