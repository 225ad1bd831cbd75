"""How generated code writes Python's operators."""
from dragon.core.python_operators import BINARY, OPERATORS, function_name

# Of functions of `operator`: what they look like, a `{}` for each operand.
REFLECTABLE = {**{function_name(name): OPERATORS[name].form for name in BINARY}, "div": OPERATORS["truediv"].form,
               "getitem": "{}[{}]"}
MAGIC = {**{function_name(name): OPERATORS[name].form for name in OPERATORS if name not in BINARY}, **REFLECTABLE}
INPLACE = {**{f"i{name}": OPERATORS[name].form.replace(" {}", "= {}") for name in BINARY}, "setitem": "{}[{}] = {}"}
