"""Sources of modules, each read once: the nodes of their functions and classes."""
import ast
from functools import cache


@cache
def read_file(path):
    """Return ({first line: node} of functions, {name: node} of classes) of a file."""
    with open(path, encoding="utf-8") as file:
        waiting = [ast.parse(file.read())]
    functions, classes = {}, {}
    while waiting:
        for node in getattr(waiting.pop(), "body", ()):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions[min([node.lineno, *(item.lineno for item in node.decorator_list)])] = node
            elif isinstance(node, ast.ClassDef):
                classes[node.name] = node
            waiting.append(node)
            if getattr(node, "orelse", None):
                waiting.append(ast.Module(node.orelse, []))
    return functions, classes


def functions_of(path):
    """Return {first line: node} of the functions of a file; {} of what is no source."""
    return read_file(path)[0] if path.endswith(".py") else {}


def classes_of(path):
    """Return {name: node} of the classes of a file; {} of what is no source."""
    return read_file(path)[1] if path and path.endswith(".py") else {}
