"""`torch.fx.GraphModule`: a module whose `forward` is written from a graph."""
import copy
import os
import textwrap
from pathlib import Path

from dragon.core import files, warnings
from dragon.core.scopes import contextmanager
from dragon.vm.torch.core.graphs.attributes import (_assign_attr, _copy_attr, _del_attr, _get_attr,
                                                    _get_attr_via_attr_list, _has_attr, _owner)
from dragon.vm.torch.core.graphs.naming import IMPORTS, qualified_name, torch_module
from dragon.vm.torch.core.graphs.running import (_exec_with_source, _forward_from_src, _method_from_src,
                                                 _WrappedCall)
from dragon.vm.torch.core.graphs.structured import _PyTreeCodeGen
from dragon.vm.torch.core.graphs.tracer import Tracer
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.nn.modules.module import Module

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
FX_GRAPH_MODULE_FILE_PREFIX = "fx_generated_"
# What a module knows of itself beside parameters, buffers and modules, and a copy keeps.
_HOOKS = ("_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", "_replace_hooks",
          "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks")


def _format_import_statement(name, obj, importer=None):
    """Return the line that gives a global its name in a file of its own."""
    if name in IMPORTS:
        return IMPORTS[name]
    words = qualified_name(obj)
    module, _, last = words.rpartition(".")
    module = module or "builtins"
    return f"from {module} import {last} as {name}" if last != name else f"from {module} import {last}"


def _format_import_block(globals, importer=None):
    return "\n".join(sorted({_format_import_statement(name, value) for name, value in globals.items()}))


def _run_imports(block):
    """Return what the lines of imports define, where `torch` is this one."""
    import builtins

    def find(name, globals=None, locals=None, fromlist=(), level=0):
        if name.split(".")[0] != "torch":
            return __import__(name, globals, locals, fromlist, level)
        found = torch_module()
        if not fromlist:
            return found
        for word in name.split(".")[1:]:
            found = getattr(found, word)
        return found
    names = {"__builtins__": {**vars(builtins), "__import__": find}}
    plain = []
    for line in block.split("\n"):
        if line.startswith("import torch.") and " as " in line:
            path, _, name = line.removeprefix("import ").partition(" as ")
            parent, _, last = path.rpartition(".")
            line = f"from {parent} import {last} as {name}"
        plain.append(line)
    exec("\n".join(plain), names)
    names.pop("__builtins__")
    return names


class _CodeOnlyModule(Module):
    """The parts of a module, to be made a module of a graph."""

    def __init__(self, body):
        super().__init__()
        self.__dict__ = body


def reduce_graph_module(body, import_block):
    """Return a module of a graph from its parts and its code; pickles call it."""
    body = dict(body)
    names = _run_imports(import_block)
    forward = _forward_from_src(body.get("_code") or body["code"], names)
    body.setdefault("_parameters", {})
    name, tracer_class = body.pop("_graphmodule_cls_name", "GraphModule"), body.get("_tracer_cls") or Tracer

    class KeepModules(tracer_class):
        """Every call of a module stays one."""

        def is_leaf_module(self, m, module_qualified_name):
            """Return True."""
            return True
    holder = type("Parts", (_CodeOnlyModule,), {"forward": forward})(body)
    graph = KeepModules().trace(holder, **(body.get("_tracer_extras") or {}))
    graph._tracer_cls = tracer_class
    module = GraphModule(holder, graph, class_name=name)
    for key, value in body.items():
        if not hasattr(module, key):
            setattr(module, key, value)
    module.meta = body.get("meta", {})
    return module


def reduce_package_graph_module(importer, body, generated_module_name):
    """Raise: packages of PyTorch are not read here."""
    raise NotImplementedError("torch.fx.GraphModule: Dragon has no torch.package; pickle the module, or use to_folder")


def _print_readable(module, module_name, print_output=True, include_stride=False, include_device=False,
                    colored=False, expanded_def=False, additional_meta=None):
    graph = module.graph
    if not isinstance(graph, Graph):
        raise AssertionError("print_readable must be used on a module with a graph")
    code = graph.python_code("self", verbose=True, include_stride=include_stride, include_device=include_device,
                             colored=colored, expanded_def=expanded_def, additional_meta=additional_meta)
    lines = code.src.lstrip("\n").rstrip(" ")
    text = f"class {module_name}(torch.nn.Module):\n{textwrap.indent(lines, '    ', lambda line: line.strip())}"
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    inner = [_print_readable(child, name, print_output=False, include_stride=include_stride,
                             include_device=include_device, colored=colored, expanded_def=expanded_def,
                             additional_meta=additional_meta)
             for name, child in module.named_children() if isinstance(getattr(child, "graph", None), Graph)]
    for words in inner:
        text += "\n" + textwrap.indent(words, "    ")
    if print_output:
        print(text)
    return text


class GraphModule(Module):
    """A module made of a graph; its `forward` is code that was written from it.

    Parameters
    ----------
    root : Union[Module, Dict[str, Any]]
        What the graph calls and reads, by its dotted names.
    graph : Graph
        The graph.
    class_name : str, optional, default="GraphModule"
        What the class is called.

    Examples
    --------
    >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    >>> print(module.graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        %add : [num_users=1] = call_function[target=operator.add](args = (%relu, 1), kwargs = {})
        return add

    """

    def __new__(cls, *args, **kwargs):
        # Each has a class of its own, for `forward` belongs to a class.
        base = next(item for item in cls.__mro__ if item.__qualname__.split(".")[-1] != "GraphModuleImpl")

        class GraphModuleImpl(base):
            """A module of one graph."""
        return super().__new__(GraphModuleImpl)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        self.__class__.__name__ = class_name
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            self._keep_user_attributes(root)
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attr(root, self, node.target)
        elif isinstance(root, dict):
            self._take(root, graph)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self._graph = None
        for name in ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks"):
            self.__dict__[name] = []
        self.meta = dict(getattr(root, "meta", {})) if isinstance(root, Module) and isinstance(
            getattr(root, "meta", None), dict) else {}
        self.shape_env = None
        self._tracer_cls = None
        if graph._tracer_cls and "<locals>" not in graph._tracer_cls.__qualname__:
            self._tracer_cls = graph._tracer_cls
        self._tracer_extras = graph._tracer_extras or {}
        self.graph = graph

    def _keep_user_attributes(self, root):
        kept = getattr(root, "meta", None)
        kept = kept.get(_USER_PRESERVED_ATTRIBUTES_KEY) if isinstance(kept, dict) else None
        for name, value in (kept or {}).items():
            setattr(self, name, value)

    def _take(self, parts, graph):
        targets = []
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                if node.target not in parts:
                    raise RuntimeError(f"Node {node} referenced target {node.target} but that target was not provided "
                                       "in ``root``!")
                targets.append(node.target)
        for target in sorted(targets, key=lambda words: words.count(".")):  # holders before what they hold
            _assign_attr(parts[target], self, target)

    @property
    def graph(self):
        """The graph; assigning one writes the code anew."""
        return self._graph

    @graph.setter
    def graph(self, g):
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The code that was written from the graph."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self):
        """Write `forward` from the graph: to be called after the graph was changed.

        Returns
        -------
        PythonCode
            The code.

        """
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            info = self._graph._codegen.pytree_info
            self._in_spec, self._out_spec = info.in_spec, info.out_spec
        code = self._graph.python_code("self")
        self._code, self._lineno_map, self._prologue_start = code.src, code._lineno_map, code._prologue_start
        cls = type(self)
        cls.forward = _forward_from_src(code.src, code.globals, getattr(self._graph, "_co_fields", None))
        own_call = cls.__dict__.get("__call__")
        if "_wrapped_call" not in cls.__dict__:
            cls._wrapped_call = _WrappedCall(cls, own_call)

        def call_wrapped(self, *args, **kwargs):
            return self._wrapped_call(self, *args, **kwargs)
        cls.__call__ = call_wrapped
        return code

    # --- modules within

    def add_submodule(self, target, m):
        """Add a module under a dotted name, and modules on the way to it.

        Parameters
        ----------
        target : str
            The name.
        m : Module
            The module.

        Returns
        -------
        bool
            Whether it could be: what stands on the way must be modules.

        """
        *words, last = target.split(".")
        holder = self
        for word in words:
            found = getattr(holder, word, None)
            if found is None:
                found = Module()
                setattr(holder, word, found)
            if not isinstance(found, Module):
                return False
            holder = found
        holder.add_module(last, m)
        return True

    def delete_submodule(self, target):
        """Take a module out by its dotted name; return whether there was one."""
        holder, name = _owner(self, target)
        if not isinstance(holder, Module) or not isinstance(getattr(holder, name, None), Module):
            return False
        delattr(holder, name)
        return True

    def delete_all_unused_submodules(self):
        """Take out the modules that no node calls or reads."""
        used = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                words = node.target.split(".")
                used.update(".".join(words[:count]) for count in range(1, len(words) + 1))
                if node.op == "call_module":
                    try:
                        inner = self.get_submodule(node.target)
                    except AttributeError:
                        continue
                    used.update(f"{node.target}.{name}" for name, _ in inner.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # --- copies and files

    def __reduce__(self):
        body = {**self.__dict__, "_graphmodule_cls_name": type(self).__name__}
        code = self.recompile()
        body["_code"] = code.src
        del body["_graph"]
        return reduce_graph_module, (body, _format_import_block(code.globals))

    def __reduce_package__(self, exporter):
        raise NotImplementedError("torch.fx.GraphModule: Dragon has no torch.package; pickle the module, or use "
                                  "to_folder")

    def _deepcopy_init(self):
        return GraphModule.__init__

    def __deepcopy__(self, memo):
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        parts = _CodeOnlyModule(copy.deepcopy({key: value for key, value in self.__dict__.items()}, memo))
        self._deepcopy_init()(made, parts, parts.__dict__["_graph"])
        for name in _HOOKS:
            if name in self.__dict__:
                made.__dict__[name] = copy.copy(self.__dict__[name])
        made.meta = copy.deepcopy(getattr(self, "meta", {}), memo)
        for name, value in self.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(made, name, value)
        for hook in made._deepcopy_hooks:
            hook(made)
        return made

    def __copy__(self):
        made = GraphModule(self, self.graph)
        made.meta = getattr(self, "meta", {})
        return made

    def to_folder(self, folder, module_name="FxModule"):
        """Write the module as a package of Python: its code, its layers and its numbers.

        Parameters
        ----------
        folder : Union[str, os.PathLike]
            Where to.
        module_name : str, optional, default="FxModule"
            What the class is called.

        """
        folder = Path(folder)
        names = {"state_dict.pt", "module.py", "__init__.py", *(f"{name}.pt" for name, _ in self.named_children())}
        with files.replacing_folder(folder, names) as place:
            saved = self._write_package(folder, Path(place), module_name)
        if saved:
            warnings.warn("Was not able to save the following children modules as reprs -saved as pickled files "
                          f"instead: {saved}")

    def _write_package(self, folder, place, module_name):
        """Write the files of `to_folder` into a place from which they will move; return whose children have files."""
        torch, lines, saved = torch_module(), [], []
        torch.save(self.state_dict(), place / "state_dict.pt")
        for name, module in self.named_children():
            if getattr(torch.nn, type(module).__name__, None) is type(module) and "\n" not in repr(module):
                words = repr(module)
            else:
                torch.save(module, place / f"{name}.pt")
                words = f"torch.load(r'{folder / name}.pt', weights_only=False)"
                saved.append(name)
            lines.append(f"setattr(self, '{name}', {words})")
        for name, buffer in self._buffers.items():
            if buffer is not None:
                lines.append(f"self.register_buffer('{name}', torch.empty({list(buffer.shape)}, "
                             f"dtype={buffer.dtype}))")
        for name, parameter in self._parameters.items():
            if parameter is not None:
                lines.append(f"setattr(self, '{name}', torch.nn.Parameter(torch.empty({list(parameter.shape)}, "
                             f"dtype={parameter.dtype})))")
        lines.append(f"self.load_state_dict(torch.load(r'{folder / 'state_dict.pt'}'))")
        code = self._graph.python_code("self")
        body = textwrap.indent(code.src.strip(), "    ")
        setup = textwrap.indent("\n".join(lines), " " * 8)
        files.write(
            place / "module.py", f"\nimport torch\n{_format_import_block(code.globals)}\n\nfrom torch.nn import *\n"
            f"class {module_name}(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n{setup}\n\n"
            f"{body}\n")
        files.write(place / "__init__.py", "\nfrom .module import *\n")
        return saved

    # --- words

    def print_readable(self, print_output=True, include_stride=False, include_device=False, colored=False, *,
                       fast_sympy_print=False, expanded_def=False, additional_meta=None):
        """Print the code with remarks, and that of the modules of graphs within.

        Parameters
        ----------
        print_output : bool, optional, default=True
            Print it; else it is only returned.
        include_stride : bool, optional, default=False
            Tell the steps of tensors.
        include_device : bool, optional, default=False
            Tell the devices of tensors.
        colored : bool, optional, default=False
            Accepted: remarks have no colors here.
        fast_sympy_print : bool, optional, default=False
            Accepted: sizes are numbers here.
        expanded_def : bool, optional, default=False
            A line for each input.
        additional_meta : List[str], optional
            Further keys of `Node.meta` for remarks.

        Returns
        -------
        str
            The text.

        """
        return _print_readable(self, type(self).__name__, print_output, include_stride, include_device, colored,
                               expanded_def, additional_meta)

    def __str__(self):
        return "\n".join([super().__str__(), self._code,
                          "# To see more debug info, please use `graph_module.print_readable()`"])

    def _replicate_for_data_parallel(self):
        made = self.__copy__()
        made.__dict__.update({name: self.__dict__[name] for name in ("_parameters", "_buffers", "_modules")})
        return made

    # --- hooks

    @contextmanager
    def _set_replace_hook(self, f):
        """Have a function hear of each replacement within a `with` block."""
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)


def _add_hooks():
    def add(kind, listed):
        def register(self, f):
            if not callable(f):
                raise AssertionError(f"{kind} hook must be a callable.")
            getattr(self, listed).append(f)

        def unregister(self, f):
            getattr(self, listed).remove(f)
        register.__doc__, unregister.__doc__ = f"Have a function hear of: {kind}.", f"Forget a function of: {kind}."
        setattr(GraphModule, f"_register_{kind}_hook", register)
        setattr(GraphModule, f"_unregister_{kind}_hook", unregister)
    for kind, listed in (("replace_node", "_replace_hooks"), ("create_node", "_create_node_hooks"),
                         ("erase_node", "_erase_node_hooks"), ("deepcopy", "_deepcopy_hooks")):
        add(kind, listed)


_add_hooks()
