"""A graph as Python: the text of a function `forward` and the globals that it needs."""
import copy
import enum
import inspect
import re
import types
import typing
from dataclasses import dataclass, field

from dragon.vm.torch.core.graphs.naming import PRESENT, is_of_torch, qualified_name, torch_module
from dragon.vm.torch.core.graphs.operators import INPLACE, MAGIC
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx.node import Node, _type_repr


@dataclass
class PythonCode:
    """The text of a graph's function, and what its names mean."""

    src: str
    globals: typing.Dict[str, typing.Any]
    _lineno_map: typing.Optional[typing.Dict[int, int]] = None
    _prologue_start: int = 0
    fn_args: typing.List[str] = field(default_factory=list, repr=False)


MARK = "\0"  # begins an item of the body that tells the place of the node to come


def dotted(base, path):
    """Return the text that reads an attribute by a dotted path, some of whose words may be no identifiers."""
    for word in path.split("."):
        base = f"{base}.{word}" if word.isidentifier() else f'getattr({base}, "{word}")'
    return base


def last_uses(nodes):
    """Return {node: nodes whose values nobody needs after it}."""
    users, seen = {}, set()
    for node in reversed(nodes):
        for used in node._input_nodes:
            if used not in seen:
                seen.add(used)
                users.setdefault(node, []).append(used)
    return users


class Writer:
    """Write the statements of a graph.

    Parameters
    ----------
    codegen : CodeGen
        Whose words begin and end the function.
    root_module : str
        What the code calls the module, "self".
    namespace : Namespace
        The names that are taken.
    options : Dict[str, Any]
        Of `Graph.python_code`.

    """

    def __init__(self, codegen, root_module, namespace, options):
        self.codegen, self.root, self.namespace, self.options = codegen, root_module, namespace, options
        self.globals, self.wrapped, self.free = {}, {}, []
        self.body, self.returns = [], [""]
        for name, make in PRESENT.items():
            self.add_global(name, make())

    def add_global(self, hint, value):
        """Return the name by which the code reaches a thing."""
        if is_of_torch(value) and value is not torch_module().device:
            return qualified_name(value)
        name = hint.replace(".", "_")
        if self.globals.get(name, self) is value:
            return name
        name = self.namespace.create_name(name, value)
        self.globals[name] = value
        return name

    # --- words for values

    def write_type(self, kind):
        """Return a type as the code writes it."""
        if kind == ():
            return "()"
        origin = typing.get_origin(kind)
        if origin is not None and typing.get_args(kind):
            inner = [self.write_type(item) if not isinstance(item, list) else
                     f"[{', '.join(map(self.write_type, item))}]" for item in typing.get_args(kind)]
            if origin in (typing.Union, types.UnionType):
                return f"{self._type_name(typing.Union)}[{','.join(inner)}]"
            holder = getattr(typing, getattr(kind, "_name", None) or "", origin) if isinstance(
                kind, typing._GenericAlias) else origin
            return f"{self._type_name(holder)}[{','.join(inner)}]"
        if origin is not None and isinstance(kind, typing._GenericAlias):  # `Tuple[()]` has no arguments
            return self._type_name(getattr(typing, getattr(kind, "_name", None) or "", origin))
        return self._type_name(kind)

    def _type_name(self, kind):
        if kind is Ellipsis:
            return "..."
        return self.add_global(_type_repr(kind), kind)

    def write_value(self, value):
        """Return an argument as the code writes it."""
        if isinstance(value, Node):
            return repr(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            name = self.add_global(qualified_name(type(value)), type(value))
            return f"{name}{self._write_items(value)}"
        if isinstance(value, tuple):
            if type(value) is not tuple:
                return repr(value)
            return self._write_items(value)
        if isinstance(value, list):
            return f"[{', '.join(map(self.write_value, value))}]"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {self.write_value(item)}" for key, item in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({', '.join(self.write_value(item) for item in (value.start, value.stop, value.step))})"
        if isinstance(value, enum.Enum):
            return f"{self.add_global(type(value).__name__, type(value))}.{value.name}"
        if isinstance(value, Tensor):
            return f"{'Parameter' if type(value).__name__ == 'Parameter' else 'Tensor'}(size={list(value.shape)}, " \
                   f"dtype={value.dtype})"
        if isinstance(value, type) and not isinstance(value, types.GenericAlias):
            return self.add_global(_type_repr(value), value)
        if hasattr(value, "overloadpacket") or hasattr(value, "_qualified_op_name"):
            return self.add_global(qualified_name(value), value)
        return repr(value)

    def _write_items(self, items):
        words = [self.write_value(item) for item in items]
        return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"

    def write_arguments(self, args, kwargs):
        """Return arguments as they stand between the brackets of a call."""
        return ", ".join([self.write_value(item) for item in args]
                         + [f"{name} = {self.write_value(item)}" for name, item in kwargs.items()])

    # --- statements

    def write_node(self, node):
        """Add the statement of a node."""
        kind = f" : {self.write_type(node.type)}" if node.type is not None else ""
        getattr(self, f"_write_{node.op}")(node, kind)

    def _write_placeholder(self, node, kind):
        if not isinstance(node.target, str):
            raise AssertionError(f"torch.fx: got {node.target!r} for the target of an input, expected a str")
        default = f" = {self.write_value(node.args[0])}" if node.args else ""
        self.free.append(f"{node.target}{kind}{default}")
        raw = node.target.replace("*", "")
        if raw != repr(node):
            self.body.append(f"{node!r} = {raw}\n")

    def _write_get_attr(self, node, kind):
        self.body.append(f"{node!r}{kind} = {dotted(self.root, node.target)}")

    def _write_call_method(self, node, kind):
        owner, *args = node.args
        self.body.append(f"{node!r}{kind} = {dotted(self.write_value(owner), node.target)}"
                         f"({self.write_arguments(args, node.kwargs)})")

    def _write_call_module(self, node, kind):
        self.body.append(f"{node!r}{kind} = {dotted(self.root, node.target)}"
                         f"({self.write_arguments(node.args, node.kwargs)})")

    def _write_call_function(self, node, kind):
        module, name = getattr(node.target, "__module__", None), getattr(node.target, "__name__", None)
        if module == "_operator" and name in MAGIC:
            words = MAGIC[name].format(*map(self.write_value, node.args))
            self.body.append(f"{node!r}{kind} = {words}")
        elif module == "_operator" and name in INPLACE:
            words = INPLACE[name].format(*map(self.write_value, node.args))
            self.body.append(f"{words};  {node!r}{kind} = {self.write_value(node.args[0])}")
        elif node.target is getattr and len(node.args) == 2 and isinstance(node.args[1], str) and \
                node.args[1].isidentifier():
            self.add_global("getattr", getattr)
            self.body.append(f"{node!r}{kind} = {dotted(self.write_value(node.args[0]), node.args[1])}")
        else:
            called = self.add_global(qualified_name(node.target), node.target)
            if node.meta.get("is_wrapped", False):
                self.wrapped.setdefault(called)
            self.body.append(f"{node!r}{kind} = {called}({self.write_arguments(node.args, node.kwargs)})")

    def _write_output(self, node, kind):
        if node.type is not None:
            self.returns[0] = f" -> {self.write_type(node.type)}"
        made = self.codegen._writes_output(node.args[0], self.write_value)
        self.body.append(made)

    def write_deletions(self, node, users):
        """Forget values after their last use."""
        if node.op == "placeholder":
            return
        if node.op == "output":
            self.body.append("\n")
            return
        gone = list(users.get(node, []))
        if not node.users:
            gone.append(node)
        names = "".join(f"{item!r} = " for item in gone)
        self.body.append(f";  {names}None\n" if gone else "\n")

    # --- remarks of the verbose form

    def write_trace(self, node, previous):
        """Say where in the program a node comes from, where that changes; return what was said."""
        if node.op in ("placeholder", "output"):
            return previous
        trace = node.meta.get("stack_trace")
        if not trace:
            if previous != "":
                self.body.append("\n# No stacktrace found for following nodes\n")
            return ""
        if trace == previous:
            return previous
        places = re.findall(r'File "(.+)", line (\d+), in (.+)\n\s*(.*)', trace)
        if places:
            file, line, function, code = places[-1]
            self.body.append(f"\n# File: {file}:{line} in {function}, code: {code.strip()}\n")
        else:
            self.body.append("\n")
        return trace

    def remark(self, node):
        """Return what is known of a node's value: the remark in which a verbose line ends."""
        value = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
        words = _describe(value, self.options)
        return f'"{words}"' if words else ""

    def count_lines(self):
        """Return {line of the body: place of the node it belongs to}."""
        numbers, place, line = {}, 0, 1
        for statement in self.body:
            if statement.startswith(MARK):
                place = int(statement.removeprefix(MARK))
                numbers[line] = place
            for _ in range(0 if statement.startswith(MARK) else statement.count("\n")):
                line += 1
                numbers[line] = place
        return numbers


def _describe(value, options):
    """Return a tensor's dtype, sizes, and what else was asked for."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return ""
    words = f"{SHORT.get(str(value.dtype), str(value.dtype))}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, Tensor):
        words += f"[{', '.join(map(str, value.stride()))}]" if options.get("include_stride") else ""
        words += str(value.device) if options.get("include_device") else ""
    return words


SHORT = {f"torch.{name}": short for name, short in (
    row.split("=") for row in "float32=f32 float64=f64 float16=f16 bfloat16=bf16 complex64=c64 complex128=c128 "
    "int8=i8 int16=i16 int32=i32 int64=i64 bool=b8 uint8=u8 uint16=u16 uint32=u32 uint64=u64".split())}


class CodeGen:
    """How a graph becomes Python; classes derived from it say other words at a function's beginning and end."""

    def __init__(self):
        self._body_transformer = None
        self._func_name = "forward"

    def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        """Return the line that begins the function.

        Parameters
        ----------
        free_vars : List[str]
            The inputs, with their types and defaults.
        maybe_return_annotation : str
            The type of what is returned, " -> ..." or empty.
        expanded_def : bool, optional, default=False
            A line for each input.

        Returns
        -------
        str
            The text.

        """
        names = list(free_vars)
        if not names or names[0] != "self":
            names.insert(0, "self")
        if expanded_def:
            inner = "".join(f"    {name},\n" for name in names)
            return f"def {self._func_name}(\n{inner}){maybe_return_annotation}:"
        return f"def {self._func_name}({', '.join(names)}){maybe_return_annotation}:"

    def generate_output(self, output_args, *, descs=None, repr_fn=None):
        """Return the statement that ends the function."""
        return f"return {(repr_fn or repr)(output_args)}"

    def process_inputs(self, *args):
        """Return the values of the graph's inputs from the function's arguments."""
        return args

    def process_outputs(self, outputs):
        """Return what the function returns from the graph's output."""
        return outputs

    def additional_globals(self):
        """Return further names of the code, as (name, value)."""
        return []

    def _writes_output(self, value, write):
        if "repr_fn" in inspect.signature(self.generate_output).parameters:
            return self.generate_output(value, repr_fn=write)
        return self.generate_output(value)

    def _gen_python_code(self, nodes, root_module, namespace, *, verbose=False, include_stride=False,
                         include_device=False, colored=False, expanded_def=False, record_func=False,
                         additional_meta=None):
        nodes = list(nodes)
        options = {"include_stride": include_stride, "include_device": include_device}
        writer = Writer(self, root_module, namespace, options)
        for name, value in self.additional_globals():
            writer.add_global(name, value)
        users, previous = last_uses(nodes), None
        for place, node in enumerate(nodes):
            if verbose:
                previous = writer.write_trace(node, previous)
                for key in additional_meta or ():
                    if key in node.meta:
                        writer.body.append(f"# {key}: {node.meta[key]}\n")
            writer.body.append(f"{MARK}{place}")
            writer.write_node(node)
            if verbose and node.op not in ("placeholder", "output"):
                writer.body[-1] = _with_remark(writer.body[-1], repr(node), writer.remark(node))
            elif verbose and node.op == "placeholder" and writer.remark(node):
                writer.free[-1] = _with_remark(writer.free[-1], node.target, writer.remark(node))
            writer.write_deletions(node, users)
        return self._join(writer, colored, expanded_def, record_func)

    def _join(self, writer, colored, expanded_def, record_func):
        numbers = writer.count_lines()
        body = [line for line in writer.body if not line.startswith(MARK)] or ["pass\n"]
        if self._body_transformer:
            body = self._body_transformer(body)
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in writer.wrapped)
        extra = {} if not expanded_def else {"expanded_def": True}
        opening = self.gen_fn_def(writer.free, writer.returns[0], **extra)
        text = "".join(body).lstrip("\n")
        if record_func:
            writer.globals.setdefault("torch", torch_module())
            text = ("with torch.profiler.record_function('## forward ##'):\n"
                    + "\n".join(f"    {line}" for line in text.split("\n")))
        text = "\n".join(f"    {line}" for line in text.split("\n"))
        source = f"\n{wraps}\n\n{opening}\n{text}"
        start = source[:source.index(opening)].count("\n") + 1
        return PythonCode(source, writer.globals, numbers, start, list(writer.free))

    def __deepcopy__(self, memo):
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        for name, value in vars(self).items():
            setattr(copied, name, value if callable(value) else copy.deepcopy(value, memo))
        return copied


def _with_remark(statement, name, remark):
    """Return a statement with a remark where the type of its name would be."""
    if not remark:
        return statement
    head, _, rest = statement.partition(" : ")
    if head == name:
        return f"{name}: {remark} {rest[rest.index('='):]}" if "=" in rest else f"{name}: {remark}"
    return f"{name}: {remark}{statement[len(name):]}"
