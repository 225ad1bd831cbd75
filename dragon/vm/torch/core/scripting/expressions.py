"""The expressions of scripts."""
import ast
import enum

from dragon.core import python_operators
from dragon.vm.torch.core.python_operators import scripts_name
from dragon.vm.torch.core.scripting.conditions import Conditions
from dragon.vm.torch.core.scripting.failures import refuse
from dragon.vm.torch.core.scripting.frontend import NotSupportedError
from dragon.vm.torch.core.scripting.graph import Node
from dragon.vm.torch.core.scripting.scopes import Rows, Sliced, Special, Sugar, TypeName
from dragon.vm.torch.core.scripting.schemas import IMPLICIT
from dragon.vm.torch.core.scripting.types import (
    BOOL, COMPLEX, DEVICE, FLOAT, INT, NONE, NOTHING, NUMBER, STRING, TENSOR, ClassType, DictType, ListType,
    OptionalType, TupleType, UnionType, fits, join, one_of, optional, options_of)

BINARY, COMPARING = ({getattr(ast, python_operators.OPERATORS[name].node): scripts_name(name) for name in names}
                     for names in (python_operators.BINARY, python_operators.COMPARISONS))
METHODS = {scripts_name(name): f"__{name}__" for name in (*python_operators.BINARY, *python_operators.COMPARISONS)}
KINDS = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX, str: STRING, type(None): NONE}


class Held(ast.expr):
    """An expression that was read already."""

    def __init__(self, held, where):
        super().__init__()
        self.held = held
        ast.copy_location(self, where)


class Expressions(Conditions):
    """The part of the compiler that reads expressions."""

    def value(self, node, wanted=None):
        """Return the value of an expression."""
        return self.as_value(self.expression(node, wanted), node)

    def expression(self, node, wanted=None):
        """Return what an expression stands for; `wanted` is the type that is expected of it."""
        reader = getattr(self, "on_" + type(node).__name__, None)
        if reader is None:
            refuse(f"{type(node).__name__} aren't supported", self.place(node), NotSupportedError)
        if isinstance(node, (ast.List, ast.Dict, ast.ListComp, ast.DictComp, ast.Tuple, ast.Call, ast.IfExp)):
            return reader(node, wanted)
        return reader(node)

    def constant(self, value, kind=None):
        """Return a constant."""
        if isinstance(value, (list, tuple)):
            parts = [self.constant(part) for part in value]
            inner = parts[0].type if parts else getattr(kind, "element", INT)
            if isinstance(kind, OptionalType):
                kind = kind.element
            if isinstance(value, list):
                element = inner if not isinstance(kind, ListType) or kind.element == NUMBER else kind.element
                return self.emit("prim::ListConstruct", parts, (ListType(element),))
            made = TupleType([part.type for part in parts])
            return self.emit("prim::TupleConstruct", parts, (made,))
        found = KINDS.get(type(value))
        if kind == FLOAT and found == INT:
            value, found = float(value), FLOAT
        if kind in (DEVICE, INT) and found is None or kind == DEVICE:
            found = kind
        if isinstance(value, enum.Enum):
            found = self.scripts.enum_type(type(value))
        node = Node("prim::Constant", (), None, None, value=value)
        made = node.add(found if found is not None else kind or TENSOR)
        self.frame.block.append(node)
        return made

    def literal(self, node, kind):
        """Return the Python value of a default."""
        try:
            return ast.literal_eval(node)
        except ValueError:
            pass
        from dragon.vm.torch.core.scripting.resolving import as_constant
        found = self.scripts.evaluate(node, self.names)
        return as_constant(found)

    # --- names and literals

    def on_Name(self, node):
        """Return what a variable holds, or what a name outside stands for."""
        found = self.frame.find(node.id)
        if found is not None:
            return found
        reason = self.frame.error(node.id)
        if reason is not None:
            refuse(reason, self.place(node))
        return self.global_name(node.id, node)

    def on_Constant(self, node):
        """Return a literal."""
        if node.value is ...:
            return Special("...")
        if isinstance(node.value, bytes):
            refuse("bytes aren't supported", self.place(node), NotSupportedError)
        if isinstance(node.value, int) and not -1 << 63 <= node.value < 1 << 63:
            refuse(f"got the number {node.value}, expected one of 64 bits", self.place(node))
        return self.constant(node.value)

    def on_JoinedStr(self, node):
        """Return a text with values in it."""
        text, parts = "", []
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += part.value
                continue
            if part.format_spec is not None or part.conversion not in (-1, None):
                refuse("Don't support conversion or formatting in JoinedStr", self.place(node), NotSupportedError)
            text += "{}"
            parts.append(self.value(part.value))
        return self.builtin("aten::format", [self.constant(text), *parts], {}, node)

    def on_Tuple(self, node, wanted=None):
        """Return a tuple."""
        wanted = wanted.elements if isinstance(wanted, TupleType) else ()
        parts = []
        for number, part in enumerate(node.elts):
            if isinstance(part, ast.Starred):
                parts += self.unpacked(self.expression(part.value), 0, node, any_count=True)
            else:
                parts.append(self.expression(part, wanted[number] if number < len(wanted) else None))
        if any(isinstance(part, Sugar) and not isinstance(part, Rows) for part in parts):
            return Rows(parts)
        return self.tuple_of([self.as_value(part, node) for part in parts], node)

    def tuple_of(self, parts, node):
        """Return a tuple of values."""
        return self.emit("prim::TupleConstruct", parts, (TupleType([part.type for part in parts]),), self.place(node))

    def on_List(self, node, wanted=None):
        """Return a list; an empty one holds tensors unless something else is expected."""
        element = self.wanted_element(wanted)
        parts = []
        for part in node.elts:
            if isinstance(part, ast.Starred):
                parts += self.unpacked(self.expression(part.value), 0, node, any_count=True)
            else:
                parts.append(self.expression(part, element))
        if parts and all(isinstance(part, Sugar) and not isinstance(part, Rows) for part in parts):
            return Rows(parts)
        return self.list_of([self.as_value(part, node) for part in parts], element, node)

    def wanted_element(self, wanted):
        """Return the type of elements that is expected of a list."""
        for option in options_of(wanted) if wanted is not None else ():
            if type(option) is ListType:
                return option.element
        return None

    def list_of(self, parts, element, node):
        """Return a list of values."""
        if element is not None:
            parts = [self.fitted(part, element, node) for part in parts]
            if not all(fits(part.type, element) for part in parts):
                element = self.common(parts, node)
        elif parts:
            element = self.common(parts, node)
        return self.emit("prim::ListConstruct", parts, (ListType(element or TENSOR),), self.place(node))

    def common(self, parts, node):
        """Return the one type of several values."""
        kind = parts[0].type
        for part in parts[1:]:
            found = join(kind, part.type)
            if found is None:
                return one_of([each.type for each in parts])
            kind = found
        return kind

    def on_Dict(self, node, wanted=None):
        """Return a dictionary; an empty one maps texts to tensors unless something else is expected."""
        kind = next((option for option in options_of(wanted) if isinstance(option, DictType)), None) \
            if wanted is not None else None
        if None in node.keys:
            refuse("Dict unpacking with ** isn't supported", self.place(node), NotSupportedError)
        keys = [self.value(part) for part in node.keys]
        values = [self.value(part, kind and kind.value) for part in node.values]
        if kind is None and keys:
            found = self.common(values, node)
            kind = DictType(self.common(keys, node), found)
        elif kind is not None:
            values = [self.fitted(part, kind.value, node) for part in values]
            bad = [part for part in values if not fits(part.type, kind.value)]
            if bad:
                refuse(f"Expected a dictionary of {kind.value.annotation()} but got {bad[0].type.annotation()}",
                       self.place(node))
        kind = kind or DictType(STRING, TENSOR)
        inputs = [part for pair in zip(keys, values) for part in pair]
        return self.emit("prim::DictConstruct", inputs, (kind,), self.place(node))

    # --- operators

    def on_UnaryOp(self, node):
        """Return -x, not x, ~x."""
        if isinstance(node.op, ast.Not):
            return self.condition(node).as_value(self, node)
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant) and type(
                node.operand.value) in (int, float, complex):
            return self.constant(-node.operand.value)
        value = self.value(node.operand)
        if isinstance(node.op, ast.UAdd):
            return value
        name = "aten::neg" if isinstance(node.op, ast.USub) else "aten::bitwise_not"
        if isinstance(value.type, ClassType):
            return self.call_named(value, "__neg__" if name == "aten::neg" else "__invert__", [], node)
        return self.builtin(name, [value], {}, node)

    def on_BinOp(self, node):
        """Return x + y and its like."""
        one = self.expression(node.left)
        other = self.expression(node.right)
        if isinstance(one, Rows) and isinstance(other, Rows) and isinstance(node.op, ast.Add):
            return Rows(one.items + other.items)
        one, other = self.as_value(one, node), self.as_value(other, node)
        if isinstance(node.op, ast.Mod) and one.type == STRING:
            parts = self.unpacked(other, 0, node, True) if isinstance(other.type, TupleType) else [other]
            return self.builtin("aten::percentFormat", [one, *parts], {}, node)
        return self.binary(BINARY[type(node.op)], one, other, node)

    def binary(self, name, one, other, node):
        """Return the value of an operator with two sides."""
        for side, rest, reverse in ((one, other, False), (other, one, True)):
            if isinstance(side.type, ClassType):
                method = METHODS[name]
                method = method.replace("__", "__r", 1) if reverse else method
                if method in self.scripts.method_names(side.type):
                    return self.call_named(side, method, [rest], node)
        if name == "aten::add" and isinstance(one.type, TupleType) and isinstance(other.type, TupleType):
            parts = self.unpacked(one, 0, node, True) + self.unpacked(other, 0, node, True)
            return self.tuple_of(parts, node)
        if name == "aten::floordiv" and TENSOR in (one.type, other.type):
            name = "aten::floor_divide"
        if one.type != TENSOR and other.type == TENSOR and name not in ("aten::matmul",):
            return self.reversed(name, one, other, node)
        return self.builtin(name, [one, other], {}, node)

    def reversed(self, name, one, other, node):
        """Return `number op tensor` by what PyTorch has for it."""
        direct = {"aten::add", "aten::mul", "aten::__and__", "aten::__or__", "aten::__xor__"}
        mirrored = {"aten::lt": "aten::gt", "aten::gt": "aten::lt", "aten::le": "aten::ge", "aten::ge": "aten::le",
                    "aten::eq": "aten::eq", "aten::ne": "aten::ne"}
        if name in direct or name in mirrored:
            return self.builtin(mirrored.get(name, name), [other, one], {}, node)
        if name == "aten::sub":
            return self.builtin("aten::rsub", [other, one], {}, node)
        if name == "aten::div":
            inverse = self.builtin("aten::reciprocal", [other], {}, node)
            return self.builtin("aten::mul", [inverse, one], {}, node)
        return self.builtin(name, [one, other], {}, node)

    def on_Compare(self, node):
        """Return x < y and its like."""
        return self.condition(node).as_value(self, node) if self.is_condition(node) else self.compared(node)

    def is_condition(self, node):
        """Return whether a comparison is `is`, `in` or a chain."""
        return len(node.ops) > 1 or isinstance(node.ops[0], (ast.Is, ast.IsNot))

    def compared(self, node):
        """Return one comparison."""
        one, other, operator = self.value(node.left), self.value(node.comparators[0]), node.ops[0]
        if isinstance(operator, (ast.In, ast.NotIn)):
            if isinstance(other.type, ClassType):
                found = self.call_named(other, "__contains__", [one], node)
            elif isinstance(other.type, TupleType):
                parts = self.unpacked(other, 0, node, True)
                other = self.list_of(parts, None, node)
                found = self.builtin("aten::__contains__", [other, one], {}, node)
            elif other.type == STRING:
                ends = [self.constant(0), self.builtin("aten::len", [other], {}, node)]
                place = self.builtin("aten::find", [other, one, *ends], {}, node)
                found = self.builtin("aten::ne", [place, self.constant(-1)], {}, node)
            else:
                found = self.builtin("aten::__contains__", [other, one], {}, node)
            if isinstance(operator, ast.NotIn):
                return self.emit("aten::__not__", [found], (BOOL,), self.place(node))
            return found
        return self.binary(COMPARING[type(operator)], one, other, node)

    def on_BoolOp(self, node):
        """Return x and y, x or y."""
        return self.condition(node).as_value(self, node)

    def on_IfExp(self, node, wanted=None):
        """Return x if c else y."""
        condition = self.condition(node.test)
        found = []

        def side(part):
            def run():
                self.frame.put("$if", self.value(part, wanted))
                found.append(self.frame.find("$if"))
            return run
        before = self.frame.names.pop("$if", None)
        self.branch(condition, side(node.body), side(node.orelse), node)
        made = self.frame.names.pop("$if", None)
        if made is None:
            reason = self.frame.errors.pop("$if", "")
            kinds = " and ".join(part.type.annotation() for part in found)
            refuse(f"if-expression's true branch and false branch have different types: {kinds} {reason}",
                   self.place(node))
        if before is not None:
            self.frame.names["$if"] = before
        return made

    # --- parts

    def on_Subscript(self, node):
        """Return elements of tuples, lists, dictionaries, tensors; types with parameters."""
        owner = self.expression(node.value)
        if isinstance(owner, TypeName) or isinstance(owner, Special):
            return TypeName(self.type_of(node))
        node = ast.copy_location(ast.Subscript(node.value, self.index_of(node.slice), node.ctx), node)
        if isinstance(owner, Rows):
            return self.row(owner, node)
        if isinstance(owner, Sugar) or isinstance(owner.type, ClassType) and owner.type.is_module:
            return self.module_item(owner, node)
        if owner.type == TENSOR:
            part, indices = self.sliced(owner, node.slice, node)
            return part if indices is None else self.builtin("aten::index", [part, indices], {}, node)
        if isinstance(node.slice, ast.Slice):
            return self.sliced_row(owner, node)
        if isinstance(owner.type, TupleType):
            return self.tuple_item(owner, node)
        if isinstance(owner.type, ClassType):
            return self.call_named(owner, "__getitem__", [self.value(node.slice)], node)
        if isinstance(owner.type, (OptionalType, UnionType)):
            refuse(f"'{owner.type.annotation()}' object is not subscriptable", self.place(node))
        return self.builtin("aten::__getitem__", [owner, self.value(node.slice)], {}, node)

    def on_Held(self, node):
        """Return a value that was computed already."""
        return node.held

    def index_of(self, index):
        """Return the syntax of a subscript, with slices that were made before written out."""
        if isinstance(index, ast.Tuple):
            return ast.copy_location(ast.Tuple(list(map(self.index_of, index.elts)), ast.Load()), index)
        is_call = isinstance(index, ast.Call) and isinstance(index.func, ast.Name) and index.func.id == "slice"
        if is_call or isinstance(index, ast.Name) and isinstance(self.frame.find(index.id), Sliced):
            found = self.expression(index)
            if isinstance(found, Sliced):
                return ast.copy_location(ast.Slice(*(end and Held(end, index) for end in found.ends)), index)
            return Held(found, index)
        return index

    def row(self, owner, node):
        """Return one or some of several things known beforehand."""
        if isinstance(node.slice, ast.Slice):
            ends = [None if part is None else self.known_number(self.value(part), node)
                    for part in (node.slice.lower, node.slice.upper, node.slice.step)]
            return Rows(owner.items[slice(*ends)])
        number = self.known_number(self.value(node.slice), node)
        if isinstance(number, str) or not -len(owner.items) <= number < len(owner.items):
            refuse(f"index {number!r} out of range", self.place(node))
        return owner.items[number]

    def sliced_row(self, owner, node):
        """Return a slice of a list, tuple or text."""
        ends = [node.slice.lower, node.slice.upper, node.slice.step]
        if isinstance(owner.type, TupleType):
            numbers = [None if part is None else self.known_number(self.value(part), node) for part in ends]
            parts = self.unpacked(owner, 0, node, True)[slice(*numbers)]
            if owner.type.elements and not parts:
                return self.tuple_of([], node)
            return self.tuple_of(parts, node)
        values = [self.constant(None) if part is None else self.value(part) for part in ends[:2]]
        values.append(self.constant(1) if ends[2] is None else self.value(ends[2]))
        return self.builtin("aten::slice", [owner, *values], {}, node)

    def tuple_item(self, owner, node):
        """Return an element of a tuple, whose place is known unless all are alike."""
        index = self.value(node.slice)
        kinds = owner.type.elements
        if index.node is not None and index.node.kind_ == "prim::Constant" and index.type == INT:
            number = index.node.attributes["value"]
            if not -len(kinds) <= number < len(kinds):
                refuse("Tuple index out of range", self.place(node))
            return self.emit("prim::TupleIndex", [owner, index], (kinds[number],), self.place(node))
        if not kinds or any(kind != kinds[0] for kind in kinds) or index.type != INT:
            refuse("Cannot index into a tuple with a non-integer literal because we cannot resolve the output type",
                   self.place(node))
        return self.emit("prim::TupleIndex", [owner, index], (kinds[0],), self.place(node))

    def sliced(self, value, index, node):
        """Return (part of a tensor, list of index tensors or None)."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        dim, indices = 0, []
        count = sum(1 for part in parts if not self.is_word(part, None) and not self.is_word(part, ...))
        seen = False
        values = []
        for part in parts:  # in order, before anything is taken
            if isinstance(part, ast.Slice) or self.is_word(part, None) or self.is_word(part, ...):
                values.append(part)
            else:
                values.append(self.value(part))
        for part in values:
            axis = self.constant(dim)
            if isinstance(part, ast.Slice):
                ends = [self.constant(None) if end is None else self.value(end) for end in (part.lower, part.upper)]
                ends.append(self.constant(1) if part.step is None else self.value(part.step))
                value = self.builtin("aten::slice", [value, axis, *ends], {}, node)
                dim, count = (dim + 1), count - 1
            elif isinstance(part, ast.AST) and self.is_word(part, ...):
                if seen:
                    refuse("an index can only have a single ellipsis", self.place(node))
                seen, dim = True, -count  # from here on axes are counted from the end
            elif isinstance(part, ast.AST) or part.type == NONE:
                place = self.constant(dim - 1 if seen else dim)
                value, dim = self.builtin("aten::unsqueeze", [value, place], {}, node), dim if seen else dim + 1
            elif part.type == INT:
                value, count = self.builtin("aten::select", [value, axis, part], {}, node), count - 1
                dim = dim + 1 if seen else dim
            elif part.type == TENSOR or type(part.type) is ListType or part.type == BOOL:
                if part.type != TENSOR:
                    part = self.builtin("aten::tensor", [part], {}, node)
                indices.append((dim, part))
                dim, count = dim + 1, count - 1
            else:
                refuse(f"Unsupported operation: indexing tensor with unsupported index type "
                       f"'{part.type.annotation()}'. Only ints, slices, lists and tensors are supported",
                       self.place(node))
        if not indices:
            return value, None
        row = []
        if seen and any(place < 0 for place, _ in indices):
            refuse("Unsupported operation: indexing with tensors behind an ellipsis", self.place(node),
                   NotSupportedError)
        for place, tensor in indices:
            while len(row) < place:
                row.append(self.constant(None))
            row.append(tensor)
        return value, self.emit("prim::ListConstruct", row, (ListType(optional(TENSOR)),), self.place(node))

    def is_word(self, part, word):
        """Return whether an index is None or an ellipsis."""
        return isinstance(part, ast.Constant) and part.value is word

    # --- conversions

    def fitted(self, value, kind, node):
        """Return a value in a type, if it can be had without a change of what it is."""
        if isinstance(value, Sugar):
            value = self.as_value(value, node)
        if value.type == kind:
            return value
        if value.node is not None and value.node.kind_ == "prim::ListConstruct" and not value.node.inputs_:
            wanted = self.wanted_element(kind)
            if wanted is not None and value.type.element in (TENSOR, NOTHING):
                return self.emit("prim::ListConstruct", (), (ListType(wanted),), self.place(node))
        if value.node is not None and value.node.kind_ == "prim::DictConstruct" and not value.node.inputs_:
            found = next((option for option in options_of(kind) if isinstance(option, DictType)), None)
            if found is not None:
                return self.emit("prim::DictConstruct", (), (found,), self.place(node))
        if kind in IMPLICIT and value.type == TENSOR:
            return self.builtin(IMPLICIT[kind], [value], {}, node)
        return value

    def fitted_to(self, value, kind, node):
        """Return a value in the type of the variable that it is set to: a tuple becomes the list it is wanted as."""
        value = self.fitted(value, kind, node)
        element = self.wanted_element(kind)
        if isinstance(value.type, TupleType) and element is not None and not any(
                isinstance(option, TupleType) for option in options_of(kind)) and all(
                    fits(part, element) for part in value.type.elements):
            parts = self.unpacked(value, len(value.type.elements), node)
            return self.emit("prim::ListConstruct", parts, (ListType(element),), self.place(node))
        return value

    def widened(self, value, kind):
        """Return a value under a wider type, `Optional[int]` of an int."""
        return self.emit("prim::unchecked_cast", [value], (kind,))
