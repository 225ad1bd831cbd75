"""Lists as part of what branches and loops change: `l.append(x)` and `l[i] = x` write to the name."""
import ast


class Lists(ast.NodeTransformer):
    """Makes `l.append(x)` and `l[i] = x` write to the name, so that branches and loops take note.

    Parameters
    ----------
    library : str
        The name by which the code reaches the library.

    """

    def __init__(self, library):
        self._library = library

    def visit_FunctionDef(self, node):
        """Return a definition as it is: it has a rewriting of its own."""
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def _written(self, name, who, arguments, node):
        value = ast.parse(f"{self._library}.{who}({name})", mode="eval").body
        value.args += arguments
        made = ast.Assign([ast.Name(name, ast.Store())], value)
        for part in (made, *made.targets, value, value.func, value.func.value, value.args[0]):
            ast.copy_location(part, node)
        return made

    def visit_Assign(self, node):
        """Return `l = set_item(l, i, x)` in the place of `l[i] = x`."""
        target = node.targets[0]
        plain = len(node.targets) == 1 and isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
        if not plain or isinstance(target.slice, (ast.Slice, ast.Tuple)):
            return node
        return self._written(target.value.id, "set_item", [target.slice, node.value], node)

    def visit_Expr(self, node):
        """Return `l = list_append(l, x)` in the place of `l.append(x)`."""
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append" and (
                isinstance(call.func.value, ast.Name) and len(call.args) == 1 and not call.keywords):
            return self._written(call.func.value.id, "list_append", call.args, node)
        return node
