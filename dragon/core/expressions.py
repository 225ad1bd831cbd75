"""Expressions of sizes, as graphs write them: "2*batch + 1", "(length - 5)//5", "min(length, 50)"."""
import ast

from dragon.core.python_operators import OPERATORS, function_of

_OPERATIONS = {OPERATORS[name].node: function_of(name) for name in ("add", "sub", "mul", "floordiv")}
_FUNCTIONS = {"min": min, "max": max}


def evaluate(text, symbols):
    """Return what an expression comes to.

    Parameters
    ----------
    text : str
        The expression.
    symbols : Dict[str, int]
        What its symbols are, whose names may be any text; sizes that follow others may stand for numbers.

    Returns
    -------
    int
        The number, or a size that follows others.

    """
    def value(node):
        if isinstance(node, ast.BinOp) and type(node.op).__name__ in _OPERATIONS:
            return _OPERATIONS[type(node.op).__name__](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in _FUNCTIONS and not node.keywords:
            return _FUNCTIONS[node.func.id](*map(value, node.args))
        if isinstance(node, ast.Name) and node.id in symbols:
            return symbols[node.id]
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        raise ValueError(f"sizes: got '{ast.unparse(node)}' in '{text}', expected whole numbers, "
                         f"{', '.join(symbols) or 'no symbols'}, +, -, *, //, min and max of them")
    return symbols[text] if text in symbols else value(ast.parse(text, mode="eval").body)
