"""What a text tells besides names: calls for devices that are not there, graphs that fall back, blind spots."""
import ast

from dragon.command.tracing.source import dotted
from dragon.vm.alias import NESTED

GRAPHS = ("compile", "function")  # of torch, tensorflow and dragon: what makes a graph of a function
LOOKS = ("item", "tolist", "numpy")  # methods that look at a tensor's numbers
DRAWS = ("random", "np.random", "numpy.random")
LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
OWNERS = ("torch", "tf", "tensorflow", "dragon")


def read(tree, path, cuda):
    """Return {"devices": [...], "slower": [...], "unseen": [...]} of a file, each entry with its place.

    Parameters
    ----------
    tree : ast.AST
        Its syntax tree.
    path : str
        Where it is.
    cuda : int
        How many CUDA devices there are.

    """
    found = {"devices": [], "slower": [], "unseen": []}
    compiled = names_compiled(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
                node.name in compiled or any(is_graph(entry) for entry in node.decorator_list)):
            found["slower"] += [{"file": path, **entry} for entry in fall_backs(node)]
        if isinstance(node, ast.Call):
            blind = blind_spot(node)
            if blind:
                found["unseen"].append({"file": path, "line": node.lineno, "reason": blind})
    if not cuda:
        found["devices"] += [{"file": path, **entry} for entry in list_devices(tree)]
    return found


def is_graph(node):
    """Return whether an expression is `torch.compile`, `tf.function` or `dragon.function`, or a call of one."""
    name = dotted(node.func if isinstance(node, ast.Call) else node) or ""
    return name.partition(".")[0] in OWNERS and name.rpartition(".")[2] in GRAPHS


def names_compiled(tree):
    """Return the names of functions that are handed to a compiler."""
    return {node.args[0].id for node in ast.walk(tree) if isinstance(node, ast.Call) and is_graph(node)
            and node.args and isinstance(node.args[0], ast.Name)}


def fall_backs(function):
    """Yield {"line", "reason"} of what keeps a function from being a graph."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in LOOKS and not node.args:
            yield {"line": node.lineno, "reason": f".{node.func.attr}() looks at a tensor's numbers, so "
                                                  f"{function.name} may run as plain Python, not as a graph"}
        elif (dotted(node.func) or "").rpartition(".")[0] in DRAWS:
            yield {"line": node.lineno, "reason": f"{dotted(node.func)} draws outside of the framework, so "
                                                  f"{function.name} runs as plain Python, not as a graph"}


def blind_spot(node):
    """Return why a call hides from a reader what it uses, or None."""
    name = dotted(node.func) or ""
    if name in ("exec", "eval"):
        return f"{name} runs code that is made when the program runs"
    if name in ("importlib.import_module", "__import__", "import_module") and not is_text(node.args[:1]):
        return "a module is imported by a name that is made when the program runs"
    if name == "getattr" and len(node.args) > 1 and not is_text(node.args[1:2]):
        root = (dotted(node.args[0]) or "").partition(".")[0]
        if root in (*OWNERS, "nn", "F", "keras", "optim"):
            return f"getattr({dotted(node.args[0])}, ...) takes a name that is made when the program runs"
    return None


def is_text(nodes):
    """Return whether an argument is a text that stands there."""
    return bool(nodes) and isinstance(nodes[0], ast.Constant) and isinstance(nodes[0].value, str)


def list_devices(tree):
    """Yield {"line", "name", "guarded"} of calls that need a CUDA device."""
    guarded = {id(child) for part in guarded_parts(tree) for child in ast.walk(part)}
    hosted = set(list_hosted(tree))
    for node in ast.walk(tree):
        name = needs_device(node)
        if name and (dotted(node.func) or "").partition(".")[0] not in hosted:
            yield {"line": node.lineno, "column": node.col_offset + 1, "name": name, "guarded": id(node) in guarded}


def list_hosted(tree):
    """Yield the names that are bound to guests which run on the host whatever device is asked for."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            whole = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module and not node.level else ""
            for alias in node.names:
                if any(f"{whole}{alias.name}.".startswith(f"{root}.") for root in NESTED):
                    yield alias.asname or (alias.name if whole else alias.name.partition(".")[0])


def guarded_parts(tree):
    """Yield what runs only where a condition has asked for devices: under it, or behind one that leaves."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.IfExp)) and asks(node.test):
            yield from node.body if isinstance(node.body, list) else [node.body]
        for block in (getattr(node, field, None) for field in ("body", "orelse", "finalbody")):
            block = block if isinstance(block, list) else []
            for place, entry in enumerate(block):
                if isinstance(entry, ast.If) and asks(entry.test) and isinstance(entry.body[-1], LEAVING):
                    yield from block[place + 1:]


def asks(test):
    """Return whether a condition asks for devices, or for what an option says of them."""
    words = ast.unparse(test)
    return "cuda" in words or "gpu" in words.lower() or "device" in words


def needs_device(node):
    """Return what in a call needs a CUDA device, or None."""
    if not isinstance(node, ast.Call):
        return None
    name = (dotted(node.func) or "").rpartition(".")[2] or getattr(node.func, "attr", "")
    if name == "cuda" and isinstance(node.func, ast.Attribute) and (dotted(node.func) != "torch.cuda"):
        return ".cuda()"
    words = [*(node.args[:1] if name in ("to", "device") else ()),
             *(word.value for word in node.keywords if word.arg == "device")]
    for word in words:
        if is_text([word]) and word.value.lstrip("/").lower().startswith(("cuda", "gpu", "device:gpu")):
            return f"{name}({word.value!r})"
    return None
