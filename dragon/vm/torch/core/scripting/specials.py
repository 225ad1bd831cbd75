"""Words that the compiler knows by itself: Python's own functions, those of `torch.jit`, the dialect of archives."""
import ast

from dragon.vm.torch.core.scripting import resolving
from dragon.vm.torch.core.scripting.failures import Missing, refuse
from dragon.vm.torch.core.scripting.graph import Value
from dragon.vm.torch.core.scripting.schemas import overloads
from dragon.vm.torch.core.scripting.scopes import (
    Builtin, Called, Counted, Dialect, Method, PythonModule, Rows, Sliced, Special, Sugar, TypeName)
from dragon.vm.torch.core.scripting.words import CASTS, DIRECT
from dragon.vm.torch.core.scripting.types import (
    ANY, BOOL, INT, NONE, NOTHING, STRING, TENSOR, ClassType, DictType, FutureType, ListType, OptionalType, TupleType,
    fits, one_of, options_of)


class Specials:
    """The part of the compiler that calls such words."""

    def special(self, callee, node, wanted=None):
        """Return what a call of a word gives."""
        name = callee.name
        reader = getattr(self, "call_" + name.strip("_"), None) if name not in DIRECT and name not in CASTS else None
        if reader is not None:
            return reader(callee, node, wanted)
        args, kwargs = self.arguments(node)
        values = [self.as_value(part, node) if name not in ("len", "min", "max", "sum") else part for part in args]
        if name == "len" and values and isinstance(values[0], (Rows, Sugar)):
            rows = self.rows_of(values[0], node)
            return self.constant(len(rows)) if rows is not None else self.countable(values[0], node)[0]
        values = [self.as_value(part, node) for part in values]
        if name == "len" and len(values) == 1:
            return self.length(values[0], node)
        if name in CASTS:
            return self.cast(name, values, node)
        if name in DIRECT:
            operator = DIRECT[name]
            if name in ("min", "max") and len(values) > 2:
                found = values[0]
                for value in values[1:]:
                    found = self.builtin(operator, [found, value], {}, node)
                return found
            if values and isinstance(values[0].type, ClassType):
                return self.call_named(values[0], f"__{name}__", values[1:], node)
            if name in ("min", "max") and any(value.type == TENSOR for value in values):
                operator = "aten::" + name
            return self.builtin(operator, values, {key: self.as_value(part, node) for key, part in kwargs.items()},
                                node)
        return refuse(f"Python builtin {name} is currently not supported in Torchscript", self.place(node))

    def length(self, value, node):
        """Return a number of elements."""
        if isinstance(value.type, TupleType):
            return self.constant(len(value.type.elements))
        if isinstance(value.type, ClassType):
            rows = self.module_rows(value, node) if value.type.is_module else None
            return self.constant(len(rows)) if rows is not None else self.call_named(value, "__len__", [], node)
        return self.builtin("aten::len", [value], {}, node)

    def cast(self, name, values, node):
        """Return `int(x)` and its like."""
        operator, kind = CASTS[name]
        if not values:
            return self.constant({"int": 0, "float": 0.0, "bool": False, "str": "", "complex": 0j}[name])
        if values[0].type == kind and len(values) == 1:
            return values[0]
        if isinstance(values[0].type, ClassType):
            return self.call_named(values[0], f"__{name}__", [], node)
        if name == "bool":
            return self.truth(values[0], node)
        return self.builtin(operator, values, {}, node)

    def call_print(self, callee, node, wanted=None):
        """Print values."""
        self.emit("prim::Print", [self.as_value(part, node) for part in self.arguments(node)[0]], (), self.place(node))
        return self.constant(None)

    def call_range(self, callee, node, wanted=None):
        """Return numbers in a row."""
        parts = [self.as_value(part, node) for part in self.arguments(node)[0]]
        parts = [self.fitted(part, INT, node) for part in parts]
        bad = [part for part in parts if part.type != INT]
        if not parts or len(parts) > 3 or bad:
            refuse(f"range expected 1 to 3 arguments of type int, got "
                   f"{', '.join(part.type.annotation() for part in parts) or 'none'}", self.place(node))
        return Counted("range", parts)

    def call_enumerate(self, callee, node, wanted=None):
        """Return things with their numbers."""
        args, kwargs = self.arguments(node)
        start = args[1] if len(args) > 1 else kwargs.get("start")
        return Counted("enumerate", [args[0], start])

    def call_zip(self, callee, node, wanted=None):
        """Return things side by side."""
        return Counted("zip", self.arguments(node)[0])

    def call_reversed(self, callee, node, wanted=None):
        """Return known things in the other order."""
        args, _ = self.arguments(node)
        rows = self.rows_of(args[0], node)
        if rows is not None:
            return Rows(rows[::-1])
        value = self.as_value(args[0], node)
        none = self.constant(None)
        copied = self.builtin("aten::slice", [value, none, none, self.constant(1)], {}, node)
        self.builtin("aten::reverse", [copied], {}, node)
        return copied

    def call_isinstance(self, callee, node, wanted=None):
        """Return whether a value is of a type: known beforehand, or asked when the script runs."""
        value = self.value(node.args[0])
        kinds = self.kinds_of(node.args[1])
        options = options_of(value.type)
        is_one = [any(fits_kind(option, kind) for kind in kinds) for option in options]
        from dragon.vm.torch.core.scripting.conditions import Condition
        if value.type != ANY and all(is_one):
            return Condition(known=True)
        if value.type != ANY and not any(is_one):
            return Condition(known=False)
        found = self.emit("prim::isinstance", [value], (BOOL,), self.place(node), kinds=tuple(kinds))
        true, false = {}, {}
        if isinstance(node.args[0], ast.Name):
            name = node.args[0].id
            if value.type == ANY:
                true = {name: one_of(kinds)}
            else:
                true = {name: one_of([option for option, yes in zip(options, is_one) if yes])}
                false = {name: one_of([option for option, yes in zip(options, is_one) if not yes])}
        return Condition(found, true, false)

    def kinds_of(self, node):
        """Return the types that `isinstance` asks for."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return [kind for part in node.elts for kind in self.kinds_of(part)]
        if isinstance(node, ast.Call):  # type(None)
            return [NONE]
        from dragon.vm.torch.core.scripting.types import ANY_LIST, ANY_TUPLE
        if isinstance(node, ast.Name) and node.id in ("list", "tuple", "List", "Tuple"):
            return [ANY_LIST if node.id in ("list", "List") else ANY_TUPLE]
        return [self.type_of(node)]

    def call_hasattr(self, callee, node, wanted=None):
        """Return whether there is an attribute, which is known beforehand."""
        from dragon.vm.torch.core.scripting.conditions import Condition
        owner, name = self.expression(node.args[0]), node.args[1].value
        if isinstance(owner, PythonModule):
            return Condition(known=hasattr(owner.module, name))
        kind = self.as_value(owner, node).type
        if isinstance(kind, ClassType):
            known = name in kind.attributes or name in kind.constants or name in kind.properties
            return Condition(known=known or name in self.scripts.method_names(kind))
        if isinstance(kind, TupleType) and kind.fields:
            return Condition(known=name in kind.fields)
        return refuse("hasattr's first argument must be an object or NamedTuple, but got a normal value",
                      self.place(node))

    def call_getattr(self, callee, node, wanted=None):
        """Return an attribute whose name is known."""
        owner = self.expression(node.args[0])
        name = self.known_number(self.value(node.args[1]), node)
        if len(node.args) > 2:
            kind = self.as_value(owner, node).type
            known = isinstance(kind, ClassType) and (name in kind.attributes or name in kind.constants or name in
                                                     self.scripts.method_names(kind))
            if not known:
                return self.expression(node.args[2])
        return self.attribute(owner, name, node)

    def call_list(self, callee, node, wanted=None):
        """Return a list of what can be walked through."""
        args, _ = self.arguments(node)
        if not args:
            return self.list_of([], self.wanted_element(wanted), node)
        rows = self.rows_of(args[0], node)
        if rows is not None:
            if any(isinstance(part, Sugar) and not isinstance(part, Rows) for part in rows):
                return Rows(rows)
            return self.list_of([self.as_value(part, node) for part in rows], self.wanted_element(wanted), node)
        if isinstance(args[0], Counted):
            return self.counted_list(args[0], node)
        value = self.as_value(args[0], node)
        if isinstance(value.type, DictType):
            return self.builtin("aten::keys", [value], {}, node)
        if value.type == TENSOR:
            return self.builtin("aten::unbind", [value], {}, node)
        return self.builtin("aten::list", [value], {}, node)

    def call_tuple(self, callee, node, wanted=None):
        """Return a tuple of what has a known length."""
        args, _ = self.arguments(node)
        if not args:
            return self.tuple_of([], node)
        rows = self.rows_of(args[0], node)
        if rows is None:
            refuse("tuple() needs something whose length is known when it is compiled", self.place(node))
        if any(isinstance(part, Sugar) and not isinstance(part, Rows) for part in rows):
            return Rows(rows)
        return self.tuple_of([self.as_value(part, node) for part in rows], node)

    def call_dict(self, callee, node, wanted=None):
        """Return a dictionary."""
        args, kwargs = self.arguments(node)
        if not args:
            keys = [self.constant(name) for name in kwargs]
            values = [self.as_value(part, node) for part in kwargs.values()]
            kind = DictType(STRING, self.common(values, node) if values else TENSOR)
            wanted = [option for option in options_of(wanted) if isinstance(option, DictType)] if wanted else []
            inputs = [part for pair in zip(keys, values) for part in pair]
            return self.emit("prim::DictConstruct", inputs, (wanted[0] if wanted and not keys else kind,),
                             self.place(node))
        made = self.builtin("aten::dict", [self.as_value(args[0], node)], {}, node)
        for name, part in kwargs.items():
            value = self.fitted(self.as_value(part, node), made.type.value, node)
            self.builtin("aten::_set_item", [made, self.constant(name), value], {}, node)
        return made

    def call_slice(self, callee, node, wanted=None):
        """Return a slice, which subscripts take."""
        args, kwargs = self.arguments(node)
        if kwargs:
            refuse("Slice does not accept any keyword arguments", self.place(node))
        if not 1 <= len(args) <= 3:
            refuse(f"slice takes 1 to 3 arguments, got {len(args)}", self.place(node))
        ends = [None, args[0]] if len(args) == 1 else args
        ends = [None if end is None else self.as_value(end, node) for end in ends]
        return Sliced([None if end is None or end.type == NONE else end for end in [*ends, None][:3]])

    def call_super(self, callee, node, wanted=None):
        """Return the methods of the classes above."""
        return Special("super", self)

    def call_iter(self, callee, node, wanted=None):
        """Refuse: iterators have no type."""
        refuse("iter() is currently not supported in Torchscript", self.place(node))

    # --- torch.jit's

    def call_annotate(self, callee, node, wanted=None):
        """Return a value under a type."""
        kind = self.type_of(node.args[0])
        node.args[1].wanted_type = kind
        value = self.value(node.args[1], kind)
        if isinstance(value.type, OptionalType) and value.type.element == kind or value.type == NOTHING:
            return value
        value = self.fitted(value, kind, node)
        if type(kind) is ListType and isinstance(value.type, TupleType):
            value = self.list_of(self.unpacked(value, 0, node, True), kind.element, node)
        if not fits(value.type, kind):
            refuse(f"expected an expression of type {kind.annotation()} but found {value.type.annotation()}",
                   self.place(node))
        if value.type == kind:
            return value
        if value.node is not None and value.node.kind_ == "prim::ListConstruct":
            value.type = kind if type(kind) is ListType else value.type
            return value
        return self.widened(value, kind)

    def call_unchecked_cast(self, callee, node, wanted=None):
        """Return a value that is known to be of a type."""
        value, kind = self.value(node.args[1]), self.type_of(node.args[0])
        return self.emit("prim::unchecked_cast", [value], (kind,), self.place(node))

    def call_uninitialized(self, callee, node, wanted=None):
        """Return a value that nobody looks at."""
        return self.emit("prim::Uninitialized", (), (self.type_of(node.args[0]),), self.place(node))

    def call_is_scripting(self, callee, node, wanted=None):
        """Return True."""
        from dragon.vm.torch.core.scripting.conditions import Condition
        return Condition(known=True)

    def call_is_not(self, callee, node, wanted=None):
        """Return False: of tracing, exporting, compiling."""
        from dragon.vm.torch.core.scripting.conditions import Condition
        return Condition(known=False)

    def call_fork(self, callee, node, wanted=None):
        """Return the future of a call, which is made at once."""
        args, kwargs = self.arguments(node)
        callee, rest = args[0], args[1:]
        if isinstance(callee, Value):
            callee = self.value_attribute(callee, "forward" if callee.type.is_module else "__call__", node)
        if not isinstance(callee, (Called, Method)):
            refuse("fork: expected a scripted function, method or module", self.place(node))
        value = self.as_value(self.call(callee, rest, kwargs, node), node)
        return self.emit("prim::fork", [value], (FutureType(value.type),), self.place(node))

    def call_new(self, callee, node, wanted=None):
        """Return a bare instance, as archives make them."""
        return self.emit("prim::CreateObject", (), (callee.first,), self.place(node))

    def call_same(self, callee, node, wanted=None):
        """Return the argument as it is."""
        return self.expression(node.args[-1])

    def call_unwrap(self, callee, node, wanted=None):
        """Return the argument, which is not None."""
        value = self.value(node.args[-1])
        return self.builtin("aten::_unwrap_optional", [value], {}, node) if NONE in options_of(value.type) else value

    def call_identity_function(self, callee, node, wanted=None):
        """Return nothing: the word has no meaning in scripts."""
        return self.constant(None)

    # --- torch's with lists of tensors

    def call_einsum(self, callee, node, wanted=None):
        """Return Einstein's sum of tensors given in a row or as a list."""
        args, _ = self.arguments(node)
        args = [self.as_value(part, node) for part in args]
        if len(args) == 2 and type(args[1].type) is ListType:
            return self.builtin("aten::einsum", args, {}, node)
        return self.builtin("aten::einsum", [args[0], self.list_of(args[1:], TENSOR, node)], {}, node)

    def call_rowed(self, callee, node, wanted=None):
        """Return what an operator gives of tensors in a row, or of a list of them."""
        args, kwargs = self.arguments(node)
        args = [self.as_value(part, node) for part in args]
        kwargs = {key: self.as_value(part, node) for key, part in kwargs.items()}
        if not (len(args) == 1 and args[0].type != TENSOR):
            args = [self.list_of(args, TENSOR, node)]
        return self.builtin(callee.first, args, kwargs, node)

    def call_switched(self, callee, node, wanted=None):
        """Return what the form of a function gives that its switches ask for: constants, and off by default."""
        forms = callee.first
        recipe = self.scripts.recipe("functional", forms[min(forms)])
        names = [argument.name for argument in self.scripts.function(recipe).declare().arguments]
        args, kwargs = self.arguments(node)
        given = {**dict(zip(names, args)), **kwargs}
        switches = [name for name in names if name in ("return_indices", "return_inverse", "return_counts")]
        found = tuple(name in given and bool(self.known_number(self.as_value(given[name], node), node))
                      for name in switches)
        function = self.scripts.function(self.scripts.recipe("functional", forms[found]))
        return self.call(Called(function), args, kwargs, node)

    def call_size_of(self, callee, node, wanted=None):
        """Return a list of sizes: `torch.Size`."""
        return self.value(node.args[0]) if node.args else self.list_of([], INT, node)

    # --- archives

    def dialect(self, owner, name, node):
        """Return what a dotted name of an archive stands for."""
        path = f"{owner.path}.{name}"
        if owner.path == "CONSTANTS":
            return self.archived_constant(name, node)
        if owner.path == "torch":
            if name in ("device", "dtype"):
                return Builtin("aten::" + name)
            if overloads("aten::" + name):
                return Builtin("aten::" + name)
            raise Missing(f"torch.jit.load: got torch.{name}, an operator that Dragon's table does not list:\n"
                          f"{self.place(node)}")
        if owner.path == "ops":
            return Dialect(path)
        if owner.path.startswith("ops."):
            return self.dialect_operator(owner.path[4:], name, node)
        found = self.scripts.archived(path, self.place(node))
        return Dialect(path) if found is None else found

    def dialect_operator(self, space, name, node):
        """Return an operator that an archive names with its namespace."""
        if space == "prim":
            if name in ("unchecked_cast", "annotate"):
                return Special(name)
            if name == "tolist":
                return Builtin("prim::tolist")
        found = f"{space}::{name}"
        if not overloads(found):
            raise Missing(f"torch.jit.load: got the operator {found}, expected one of Dragon's or one that "
                          f"torch.library has registered:\n{self.place(node)}")
        return Builtin(found)

    def archived_constant(self, name, node):
        """Return a constant of the archive's table."""
        constants = self.scripts.constants
        if not name.startswith("c") or not name[1:].isdigit() or int(name[1:]) >= len(constants):
            refuse(f"torch.jit.load: got CONSTANTS.{name}, expected one of {len(constants)} constants",
                   self.place(node))
        value = constants[int(name[1:])]
        return self.constant(value, resolving.type_of_value(self.scripts, value))

    # --- parts of modules

    def module_rows(self, owner, node):
        """Return the parts of a container of modules."""
        if isinstance(owner, Value):
            names = resolving.container_names(owner.type)
            if names is None:
                return None
            if owner.type.container == "dict":
                return [self.constant(name) for name in names]
            return [self.attribute(owner, name, node) for name in names]
        return None

    def module_item(self, owner, node):
        """Return one part of a container of modules, or some of them."""
        if not isinstance(owner, Value):
            refuse(f"{owner.told()} is not subscriptable", self.place(node))
        names = resolving.container_names(owner.type)
        if names is None:
            found = resolving.member(self.scripts, owner.type, "__getitem__", owner, self.place(node))
            if found is None:
                refuse(f"'{owner.type.annotation()}' object is not subscriptable", self.place(node))
            return self.call(found, [self.expression(node.slice)], {}, node)
        if owner.type.container == "dict":
            key = self.value(node.slice)
            wanted = getattr(node, "wanted_type", None)
            if key.node is None or key.node.kind_ != "prim::Constant":
                refuse("Unable to extract string literal index. ModuleDict indexing is only supported with string "
                       f"literals{'' if wanted is None else ''}. Enumeration of ModuleDict is supported, e.g. 'for k, "
                       "v in self.items(): ...'", self.place(node))
            name = key.node.attributes["value"]
            if name not in names:
                refuse(f"Key Error, {name}", self.place(node))
            return self.attribute(owner, name, node)
        rows = Rows([self.attribute(owner, name, node) for name in names])
        if not isinstance(node.slice, ast.Slice):
            key = self.value(node.slice)
            if key.node is None or key.node.kind_ != "prim::Constant":
                refuse("Expected integer literal for index. ModuleList/Sequential indexing is only supported with "
                       "integer literals. For example, 'i = 4; self.layers[i](x)' will fail because i is not a "
                       "literal. Enumeration is supported, e.g. 'for index, v in enumerate(self): out = v(inp)'",
                       self.place(node))
        return self.row(rows, node)

    def module_special(self, owner, name, node):
        """Return `self.children`, `self.named_parameters` and their like as words, or None."""
        if name in ("items", "keys", "values") and owner.type.container == "dict" or name in (
                "children", "named_children", "modules", "named_modules", "parameters", "named_parameters", "buffers",
                "named_buffers"):
            return Special("module_part", (owner, name))
        return None

    def call_module_part(self, callee, node, wanted=None):
        """Return parts, or names and parts."""
        owner, name = callee.first
        kind = name.removeprefix("named_")
        if kind in ("items", "keys", "values"):
            found = [(part, self.attribute(owner, part, node)) for part in resolving.container_names(owner.type)]
            if kind == "keys":
                return Rows([self.constant(key) for key, _ in found])
            is_named = kind == "items"
        else:
            found = list(self.parts_of(owner, kind, "", node))
            is_named = name.startswith("named_")
        return Rows([Rows([self.constant(key), part]) if is_named else part for key, part in found])

    def parts_of(self, owner, kind, prefix, node):
        """Yield (name, part) of a module's children, modules, parameters or buffers."""
        if kind == "modules":
            yield prefix.rstrip("."), owner
        for name, inner in owner.type.attributes.items():
            is_module = isinstance(inner, ClassType) and inner.is_module
            if kind == "children" and is_module:
                yield name, self.attribute(owner, name, node)
            elif kind in ("parameters", "buffers") and name in getattr(owner.type, kind) and inner != NONE:
                yield prefix + name, self.attribute(owner, name, node)
            if is_module and kind != "children":
                yield from self.parts_of(self.attribute(owner, name, node), kind, f"{prefix}{name}.", node)


def fits_kind(kind, wanted):
    """Return whether a type is what `isinstance` asks for."""
    return fits(kind, wanted) or isinstance(wanted, TypeName)
