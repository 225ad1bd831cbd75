"""Names, attributes and calls in scripts."""
import ast

from dragon.vm.torch.core.scripting import resolving
from dragon.vm.torch.core.scripting.annotations import ast_type
from dragon.vm.torch.core.scripting.conditions import Condition
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.scripting.failures import Missing, refuse
from dragon.vm.torch.core.scripting.frontend import NotSupportedError
from dragon.vm.torch.core.scripting.graph import Value
from dragon.vm.torch.core.scripting.hooks import call_hooked
from dragon.vm.torch.core.scripting.schemas import Matching, filled, overloads, overloads_into
from dragon.vm.torch.core.scripting.scopes import (
    Absent, Builtin, Called, Constructor, Counted, Dialect, EnumClass, Foreign, InterfaceMethod, Method, Overloaded,
    PythonModule, Rows, Special, Sugar)
from dragon.vm.torch.core.scripting.specials import Specials
from dragon.vm.torch.core.scripting.types import (
    ANY, BOOL, DEVICE, INT, NONE, NOTHING, NUMBER, STRING, TENSOR, ClassType, EnumType, FutureType,
    InterfaceType, ListType, OptionalType, TupleType, UnionType, fits)

PROPERTIES = {
    "dtype": ("prim::dtype", INT), "device": ("prim::device", DEVICE), "layout": ("prim::layout", INT),
    "requires_grad": ("prim::requires_grad", BOOL), "is_cuda": ("prim::is_cuda", BOOL),
    "is_cpu": ("prim::is_cpu", BOOL), "is_sparse": ("prim::is_sparse", BOOL), "is_meta": ("prim::is_meta", BOOL),
    "is_quantized": ("prim::is_quantized", BOOL), "is_mkldnn": ("prim::is_mkldnn", BOOL),
    "is_nested": ("prim::is_nested", BOOL), "data": ("prim::data", TENSOR), "itemsize": ("prim::itemsize", INT),
    "shape": ("aten::size", ListType(INT)), "ndim": ("aten::dim", INT), "T": ("aten::numpy_T", TENSOR),
    "mT": ("aten::mT", TENSOR), "H": ("aten::matrix_H", TENSOR), "mH": ("aten::mH", TENSOR),
    "grad": ("prim::grad", None), "is_leaf": ("aten::is_leaf", BOOL), "real": ("aten::real", TENSOR),
    "imag": ("aten::imag", TENSOR), "is_mps": ("prim::is_mps", BOOL), "is_xla": ("prim::is_xla", BOOL)}


class Calls(Specials):
    """The part of the compiler that reads names, attributes and calls."""

    def as_value(self, found, node):
        """Return the value that something stands for."""
        if isinstance(found, Value):
            return found
        if isinstance(found, Rows):
            return self.tuple_of([self.as_value(part, node) for part in found.items], node)
        if isinstance(found, Condition):
            return found.as_value(self, node)
        if isinstance(found, Absent):
            refuse(found.reason, self.place(node))
        if isinstance(found, Counted):
            return self.counted_list(found, node)
        if isinstance(found, Called) or isinstance(found, (Method, Builtin)):
            refuse("a function cannot be used as a value", self.place(node))
        what = f"module '{found.module.__name__}'" if isinstance(found, PythonModule) else found.told()
        return refuse(f"{what} cannot be used as a value", self.place(node))

    def counted_list(self, found, node):
        """Return a range as a list."""
        made = self.emit("prim::ListConstruct", (), (ListType(NOTHING),), self.place(node))
        count, element = self.countable(found, node)

        def turn(number):
            value = self.as_value(element(number), node)
            made.type = ListType(value.type)
            self.builtin("aten::append", [made, value], {}, node)
        self.loop(node, count, None, turn, (), ())
        return made

    def type_of(self, node):
        """Return the type that an annotation names; a module's methods may name its class."""
        own = getattr(getattr(self.owner, "made", None), "__name__", None)
        if own is not None and own in (getattr(node, "id", ""), getattr(node, "value", "")):
            return self.owner
        return ast_type(node, self.names, self.scripts, self.place(node))

    # --- names

    def global_name(self, name, node):
        """Return what a name outside of the function stands for."""
        try:
            found = self.names(name)
        except LookupError:
            return refuse(f"undefined value {name}", self.place(node), resolving.Undefined)
        return self.sugared(found, node, name)

    def sugared(self, found, node, name=None):
        """Return what a Python object is to a script."""
        made = resolving.sugar(self.scripts, found, self.place(node), name)
        if isinstance(made, resolving.Constant):
            return self.python_constant(made.value, node)
        return made

    def python_constant(self, value, node):
        """Return a number, a text, None, or a tuple of them, that Python holds."""
        if isinstance(value, (list, tuple)):
            parts = [self.python_constant(part, node) for part in value]
            return self.list_of(parts, None, node) if isinstance(value, list) else self.tuple_of(parts, node)
        return self.constant(value, DEVICE if type(value).__name__ == "device" else None)

    def on_Attribute(self, node):
        """Return an attribute."""
        return self.attribute(self.expression(node.value), node.attr, node)

    def attribute(self, owner, name, node):
        """Return an attribute of something."""
        if isinstance(owner, PythonModule):
            if not hasattr(owner.module, name):
                refuse(f"module '{owner.module.__name__}' has no attribute '{name}'", self.place(node))
            made = resolving.in_module(self.scripts, owner.module, name, self.place(node))
            return self.python_constant(made.value, node) if isinstance(made, resolving.Constant) else made
        if isinstance(owner, Dialect):
            return self.dialect(owner, name, node)
        if isinstance(owner, EnumClass):
            member = getattr(owner.type.made, name, None)
            if member is None or not isinstance(member, owner.type.made):
                refuse(f"{owner.type.qualified} has no attribute '{name}'", self.place(node))
            return self.constant(member, owner.type)
        if isinstance(owner, Constructor):
            return self.class_attribute(owner, name, node)
        if isinstance(owner, Special) and owner.name == "super":
            return resolving.super_method(self.scripts, owner.first, name, self.place(node))
        if isinstance(owner, Foreign) or isinstance(owner, Sugar):
            refuse(f"attribute lookup is not defined on {owner.told()}", self.place(node))
        return self.value_attribute(owner, name, node)

    def class_attribute(self, owner, name, node):
        """Return an attribute of a class itself: a static method, a hook."""
        made = getattr(owner.type, "made", None)
        found = made.__dict__.get(name) if made is not None else None
        if isinstance(found, staticmethod):
            return Called(self.scripts.function(found.__func__))
        if name in getattr(owner.type, "hook_methods", ()):
            return Called(owner.type.hook_methods[name])
        if name == "__new__":
            return Special("__new__", owner.type)
        return refuse(f"Class '{owner.type.qualified}' has no attribute '{name}'", self.place(node))

    def value_attribute(self, owner, name, node):
        """Return an attribute of a value, by its type."""
        kind = owner.type
        if kind == TENSOR:
            if name in PROPERTIES:
                operator, result = PROPERTIES[name]
                if name == "grad":
                    return self.builtin("prim::grad", [owner], {}, node)
                schema = self.scripts.schema_of(operator, [owner])
                return self.emit(operator, [owner], (result,), self.place(node), schema)
            if overloads("aten::" + name) or name in ("tolist", "type", "cuda", "cpu", "new_tensor", "numpy", "float",
                                                      "double", "half", "long", "int", "bool", "short", "char",
                                                      "byte", "bfloat16", "apply_", "T"):
                return Builtin("aten::" + name, owner)
            refuse(f"'Tensor' object has no attribute or method '{name}'", self.place(node))
        if isinstance(kind, ClassType):
            return self.class_value(owner, name, node)
        if isinstance(kind, InterfaceType):
            if name not in kind.methods:
                refuse(f"'{kind.annotation()}' object has no attribute or method '{name}'", self.place(node))
            return InterfaceMethod(owner, name, kind.methods[name])
        if isinstance(kind, TupleType) and kind.fields and name in kind.fields:
            place = self.constant(kind.fields.index(name))
            return self.emit("prim::TupleIndex", [owner, place], (kind.elements[place.node.attributes["value"]],),
                             self.place(node))
        if isinstance(kind, EnumType) and name in ("name", "value"):
            result = STRING if name == "name" else kind.value
            return self.emit("prim::EnumName" if name == "name" else "prim::EnumValue", [owner], (result,),
                             self.place(node))
        if kind == DEVICE and name in ("type", "index"):
            return self.builtin("prim::" + name, [owner], {}, node)
        if isinstance(kind, (OptionalType, UnionType)):
            refuse(f"'{kind.annotation()}' object has no attribute or method '{name}'", self.place(node))
        if isinstance(kind, FutureType) and name in ("wait", "done", "value"):
            return Builtin("aten::" + name, owner)
        if overloads("aten::" + name) or name in ("update",):
            return Builtin("aten::" + name, owner)
        return refuse(f"'{kind.annotation()}' object has no attribute or method '{name}'", self.place(node))

    def class_value(self, owner, name, node):
        """Return an attribute or method of an instance or module."""
        kind = owner.type
        if name in kind.attributes:
            return self.emit("prim::GetAttr", [owner], (kind.attributes[name],), self.place(node), name=name)
        if name in kind.constants:
            value = kind.constants[name]
            if isinstance(value, resolving.Container):
                return Rows([self.attribute(owner, part, node) for part in value.names])
            return self.sugared(value, node, name)
        if kind.made is not None and name not in kind.properties and kind.is_module:
            own, is_recipe = resolving.find_member(self.scripts, kind.made, name)
            if isinstance(own, property) and not is_recipe:
                self.scripts.define_property(kind, name, own)
        if name in kind.properties:
            getter = kind.properties[name][0].ready()
            return self.call_schema(getter, [owner], {}, node, method=getter.name)
        found = resolving.member(self.scripts, kind, name, owner, self.place(node))
        if found is not None:
            return self.python_constant(found.value, node) if isinstance(found, resolving.Constant) else found
        if name in kind.failed:
            refuse(f"Module '{kind.qualified.split('.')[-1]}' has no attribute '{name}' ({kind.failed[name]})",
                   self.place(node))
        if kind.is_module:
            special = self.module_special(owner, name, node)
            if special is not None:
                return special
            refuse(f"Module '{kind.qualified.split('.')[-1]}' has no attribute '{name}'", self.place(node))
        return refuse(f"'{kind.annotation()}' object has no attribute or method '{name}'", self.place(node))

    # --- calls

    def on_Call(self, node, wanted=None):
        """Return what a call gives."""
        callee = self.expression(node.func)
        if isinstance(callee, Special):
            return self.special(callee, node, wanted)
        args, kwargs = self.arguments(node)
        return self.call(callee, args, kwargs, node)

    def arguments(self, node):
        """Return (positional, named) arguments of a call."""
        args = []
        for part in node.args:
            if isinstance(part, ast.Starred):
                found = self.expression(part.value)
                if isinstance(found, Value) and type(found.type) is ListType:
                    refuse("cannot expand a list of unknown length into arguments", self.place(node))
                args += self.unpacked(found, 0, node, any_count=True)
            else:
                args.append(self.expression(part))
        kwargs = {}
        for part in node.keywords:
            if part.arg is None:
                refuse("keyword-arg expansion is not supported", self.place(node), NotSupportedError)
            kwargs[part.arg] = self.expression(part.value)
        return args, kwargs

    def call(self, callee, args, kwargs, node):
        """Return what a call of something gives."""
        if isinstance(callee, Value):
            if not isinstance(callee.type, (ClassType, InterfaceType)):
                refuse(f"'{callee.type.annotation()}' object is not callable", self.place(node))
            if isinstance(callee.type, ClassType) and (callee.type.pre_hooks or callee.type.hooks):
                return call_hooked(self, callee, args, kwargs, node)
            name = "forward" if callee.type.is_module else "__call__"
            return self.call(self.value_attribute(callee, name, node), args, kwargs, node)
        values = [self.as_value(part, node) for part in args]
        named = {name: self.as_value(part, node) for name, part in kwargs.items()}
        if isinstance(callee, Builtin):
            return self.call_builtin(callee, values, named, node)
        if isinstance(callee, Called):
            return self.call_schema(callee.function.ready(), values, named, node)
        if isinstance(callee, Method):
            return self.call_schema(callee.function.ready(), [callee.first, *values], named, node,
                                    method=callee.function.name)
        if isinstance(callee, InterfaceMethod):
            return self.call_interface(callee, values, named, node)
        if isinstance(callee, Overloaded):
            return self.call_overloaded(callee, args, kwargs, node)
        if isinstance(callee, Foreign):
            return self.call_foreign(callee, values, named, node)
        if isinstance(callee, Constructor):
            return self.construct(callee.type, values, named, node)
        if isinstance(callee, EnumClass):
            refuse("enumerations cannot be made from values in scripts", self.place(node), NotSupportedError)
        return refuse(f"cannot call a value: {callee.told()}", self.place(node))

    def call_builtin(self, callee, values, named, node):
        """Call an operator, or a method that is one."""
        name = callee.name.partition("::")[2]
        first = [callee.first] if callee.first is not None else []
        if first and first[0].type == TENSOR and name in TENSOR_WAYS:
            found = getattr(self, TENSOR_WAYS[name])(first[0], name, values, named, node)
            if found is not None:
                return found
        return self.builtin(callee.name, [*first, *values], named, node, is_method=bool(first))

    def builtin(self, name, values, named, node, is_method=True):
        """Return what an operator gives: the first signature that fits, without conversions if that can be."""
        place, found = self.place(node) if node is not None else None, []
        choices = overloads(name)
        if "out" in named and not any(argument.name == "out" for schema in choices for argument in schema.arguments):
            choices = (*choices, *overloads_into(name))
        if not choices:
            raise Missing(f"torch.jit.script: got {name}, an operator that Dragon's table does not list:\n{place}")
        for converting in (False, True):
            found = []
            for schema in choices:
                matching = Matching(self.frame.block.append, self.free_constant, place)
                # What a match makes on its way is put into the graph only if it fits.
                self.pending = matching.pending = []
                spread = any(type(argument.type) is ListType for argument in schema.arguments)
                matched = matching.match(schema, values, named, converting, spread)
                if isinstance(matched, tuple):
                    return self.emit_matched(schema, matched, place)
                found.append((schema, matched))
        told = "\n".join(f"  \n  {schema}:\n  {reason}\n" for schema, reason in found)
        return refuse(f"\nArguments for call are not valid.\nThe following variants are available:\n{told}\n"
                      "The original call is", place)

    def free_constant(self, value, kind):
        """Return a constant that waits for the call that it belongs to."""
        outer = self.frame.block.steps
        self.frame.block.steps = []
        try:
            made = self.constant(value, kind)
            self.pending += self.frame.block.steps
        finally:
            self.frame.block.steps = outer
        return made

    def emit_matched(self, schema, matched, place):
        """Put a call into the graph."""
        inputs, variables = matched
        self.frame.block.steps += self.pending
        result = filled(schema.result, variables)
        if schema.many and result == ANY:
            result = STRING
        if isinstance(result, TupleType) and schema.results is not None and len(schema.results) > 1:
            step = self.emit(schema.name, inputs, result.elements, place, schema)
            return self.emit("prim::TupleConstruct", step.outputs_, (result,), place)
        if schema.result == NONE:
            self.emit(schema.name, inputs, (), place, schema)
            return self.constant(None)
        return self.emit(schema.name, inputs, (self.exact(schema, result, inputs),), place, schema)

    def exact(self, schema, result, inputs):
        """Return the result's type, closer than the signature says it for numbers."""
        if result == NUMBER and schema.name in ("prim::min", "prim::max", "aten::add", "aten::mul", "aten::sub"):
            kinds = {value.type for value in inputs[:2]}
            if len(kinds) == 1:
                return kinds.pop()
        return result

    def call_schema(self, function, values, named, node, method=None):
        """Call a compiled function or method."""
        matched, matching = self.match_call(function.schema, values, named, node)
        if not isinstance(matched, tuple):
            refuse(f"\n{function.schema}:\n{matched}\n\nThe original call is", self.place(node))
        self.frame.block.steps += self.pending
        result = function.result(self.place(node))
        kind = "prim::CallMethod" if method is not None else "prim::CallFunction"
        return self.emit(kind, matched[0], (result,), self.place(node), name=method or function.name,
                         function=function)

    def match_call(self, schema, values, named, node):
        """Return (what Matching.match returns, the matching) for a function that a program defines."""
        matching = Matching(self.frame.block.append, self.free_constant, self.place(node))
        fitting = []
        for value, argument in zip(values, schema.arguments):
            fitting.append(self.fitted(value, argument.type, node))
        kinds = {argument.name: argument.type for argument in schema.arguments}
        named = {name: self.fitted(value, kinds.get(name, value.type), node) for name, value in named.items()}
        self.pending = matching.pending = []
        return matching.match(schema, [*fitting, *values[len(fitting):]], named), matching

    def call_interface(self, callee, values, named, node):
        """Call a method of whatever has an interface."""
        matched, _ = self.match_call(callee.schema, [callee.first, *values], named, node)
        if not isinstance(matched, tuple):
            refuse(f"\n{callee.schema}:\n{matched}\n\nThe original call is", self.place(node))
        self.frame.block.steps += self.pending
        return self.emit("prim::CallMethod", matched[0], (callee.schema.result,), self.place(node), name=callee.name,
                         function=None)

    def call_overloaded(self, callee, args, kwargs, node):
        """Call the first of several functions that fits."""
        reasons = []
        for choice in callee.choices:
            function = (choice.function if isinstance(choice, (Called, Method)) else choice).ready()
            first = [choice.first] if isinstance(choice, Method) else []
            values = [*first, *(self.as_value(part, node) for part in args)]
            named = {name: self.as_value(part, node) for name, part in kwargs.items()}
            matched, _ = self.match_call(function.schema, values, named, node)
            if isinstance(matched, tuple):
                return self.call(choice, args, kwargs, node)
            reasons.append(f"{function.schema}:\n{matched}")
        return refuse("\nArguments for call are not valid.\nThe following variants are available:\n"
                      + "\n".join(reasons) + "\nThe original call is", self.place(node))

    def call_foreign(self, callee, values, named, node):
        """Call a Python function that is not compiled."""
        if callee.unused:
            self.emit("prim::RaiseException", [self.constant(
                f"{callee.function.__name__} is marked unused and cannot be called in a script"),
                self.constant("builtins.RuntimeError")], (), self.place(node))
            result = callee.schema.result
            return self.emit("prim::Uninitialized", (), (result,)) if result != NONE else self.constant(None)
        first = [callee.first] if callee.first is not None else []
        matched, _ = self.match_call(callee.schema, [*first, *values], named, node)
        if not isinstance(matched, tuple):
            refuse(f"\n{callee.schema}:\n{matched}\n\nThe original call is", self.place(node))
        self.frame.block.steps += self.pending
        return self.emit("prim::PythonOp", matched[0], (callee.schema.result,), self.place(node),
                         name=callee.function.__name__, call=callee.function)

    def construct(self, kind, values, named, node):
        """Make an instance of a class, or a named tuple."""
        if isinstance(kind, TupleType):
            return self.construct_tuple(kind, values, named, node)
        made = self.emit("prim::CreateObject", (), (kind,), self.place(node))
        init = self.scripts.method(kind, "__init__", self.place(node), optional=True)
        if init is not None:
            self.call_schema(init, [made, *values], named, node, method="__init__")
        elif values or named:
            refuse(f"{kind.qualified} takes no arguments", self.place(node))
        return made

    def construct_tuple(self, kind, values, named, node):
        """Make a named tuple."""
        found = dict(zip(kind.fields, values), **named)
        ends = dict(zip(kind.fields[len(kind.fields) - len(kind.defaults):], kind.defaults))
        parts = []
        for name, wanted in zip(kind.fields, kind.elements):
            if name not in found and name not in ends:
                refuse(f"{kind.qualified}: Argument {name} not provided", self.place(node))
            value = found[name] if name in found else self.python_constant(ends[name], node)
            value = self.fitted(value, wanted, node)
            if not fits(value.type, wanted):
                refuse(f"Expected a value of type '{wanted.annotation()}' for argument '{name}' but instead found type "
                       f"'{value.type.annotation()}'", self.place(node))
            parts.append(value)
        if len(values) > len(kind.fields) or set(named) - set(kind.fields):
            refuse(f"{kind.qualified}: got arguments that it has no fields for", self.place(node))
        return self.emit("prim::TupleConstruct", parts, (kind,), self.place(node))

    def call_named(self, owner, name, values, node):
        """Call a method by name."""
        return self.call(self.value_attribute(owner, name, node), values, {}, node)

    # --- methods of tensors that are not operators

    def way_to(self, tensor, name, values, named, node):
        """Return a tensor in another type: `x.float()`."""
        if values or named:
            return None
        torch = api()
        kind = self.constant(getattr(torch, name), INT)
        false = [self.constant(False), self.constant(False), self.constant(None)]
        return self.builtin("aten::to", [tensor, kind, *false], {}, node)

    def way_list(self, tensor, name, values, named, node):
        """Refuse `tolist`, unless a type is wanted of it."""
        kind = getattr(node, "wanted_type", None)
        if kind is None:
            refuse("Expected type hint for result of tolist()", self.place(node))
        return self.emit("prim::tolist", [tensor], (kind,), self.place(node))

    def way_type(self, tensor, name, values, named, node):
        """Return a tensor in another type: `x.type(torch.int)`."""
        return self.builtin("aten::to", [tensor, *values], named, node) if values else None

    def way_device(self, tensor, name, values, named, node):
        """Return a tensor elsewhere: `x.cpu()`."""
        if name == "cuda" and not values:
            values = [self.constant("cuda", DEVICE)]
        return self.builtin("aten::to", [tensor, self.constant("cpu", DEVICE) if name == "cpu" else values[0]], {},
                            node)

    def way_new(self, tensor, name, values, named, node):
        """Return a new tensor of a tensor's type."""
        for key, operator, kind in (("dtype", "prim::dtype", INT), ("device", "prim::device", DEVICE)):
            if key not in named:
                named[key] = self.emit(operator, [tensor], (kind,), self.place(node))
        return self.builtin("aten::tensor", values, named, node)


TENSOR_WAYS = {**dict.fromkeys(("float", "double", "half", "long", "int", "bool", "short", "char", "byte", "bfloat16"),
                               "way_to"),
               "tolist": "way_list", "type": "way_type", "cuda": "way_device", "cpu": "way_device",
               "new_tensor": "way_new"}
