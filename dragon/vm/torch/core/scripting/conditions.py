"""Conditions of scripts: their truth, and what they tell of variables."""
import ast

from dragon.vm.torch.core.scripting.failures import refuse
from dragon.vm.torch.core.scripting.graph import Node, Value
from dragon.vm.torch.core.scripting.scopes import Frame
from dragon.vm.torch.core.scripting.types import (
    ANY, BOOL, FLOAT, INT, NONE, NOTHING, TENSOR, ClassType, DictType, ListType, one_of, options_of)


class Condition:
    """A truth value, what it tells of variables, and whether it is known beforehand."""

    def __init__(self, value=None, true=None, false=None, known=None):
        self.value, self.true, self.false, self.known = value, true or {}, false or {}, known

    def as_value(self, compiler, node):
        """Return the truth value."""
        return compiler.constant(self.known) if self.known is not None else self.value


class Conditions:
    """The part of the compiler that reads conditions."""

    def condition(self, node):
        """Return the truth of an expression."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.condition(node.operand)
            if inner.known is not None:
                return Condition(None, inner.false, inner.true, not inner.known)
            return Condition(self.emit("aten::__not__", [inner.value], (BOOL,), self.place(node)), inner.false,
                             inner.true)
        if isinstance(node, ast.BoolOp):
            return self.chained(list(node.values), isinstance(node.op, ast.And), node)
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            parts, left = [], node.left
            for operator, right in zip(node.ops, node.comparators):
                parts.append(ast.copy_location(ast.Compare(left, [operator], [right]), node))
                left = right
            return self.chained(parts, True, node)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return self.identity(node)
        found = self.expression(node)
        if isinstance(found, Condition):
            return found
        value = self.as_value(found, node)
        if value.node is not None and value.node.kind_ == "prim::Constant" and value.type in (BOOL, INT, FLOAT):
            return Condition(known=bool(value.node.attributes["value"]))
        return Condition(self.truth(value, node), getattr(value, "true", None))

    def refuse_bool(self, value, node):
        """Raise for what has no truth value."""
        refuse(f"Could not cast value of type {value.type.annotation()} to bool", self.place(node))

    def truth(self, value, node):
        """Return a value as bool."""
        if value.type == BOOL:
            return value
        if value.type in (INT, FLOAT, TENSOR):
            return self.builtin("aten::Bool", [value], {}, node)
        if type(value.type) in (ListType, DictType):
            count = self.builtin("aten::len", [value], {}, node)
            return self.builtin("aten::ne", [count, self.constant(0)], {}, node)
        if isinstance(value.type, ClassType) and "__bool__" in self.scripts.method_names(value.type):
            return self.call_named(value, "__bool__", [], node)
        return self.refuse_bool(value, node)

    def chained(self, parts, is_and, node):
        """Return `a and b`, or `a or b`: the second is looked at only if need be."""
        first = self.condition(parts[0])
        if len(parts) == 1:
            return first
        refined = first.true if is_and else first.false
        if first.known is not None:
            if first.known != is_and:
                return first
            for name, kind in refined.items():
                self.narrow(name, kind)
            return self.merged(first, self.chained(parts[1:], is_and, node), is_and)
        kept = []

        def rest():
            for name, kind in refined.items():
                self.narrow(name, kind)
            kept.append(self.chained(parts[1:], is_and, node))
            return kept[0].as_value(self, node)
        other = (lambda: self.constant(False)) if is_and else (lambda: self.constant(True))
        value = self.either(first.value, rest, other, node) if is_and else self.either(first.value, other, rest, node)
        found = self.merged(first, kept[0], is_and)
        if kept[0].known is not None and kept[0].known != is_and:
            return Condition(known=kept[0].known)
        return Condition(value, found.true, found.false)

    def merged(self, one, other, is_and):
        """Return what two conditions tell together."""
        both = {**(one.true if is_and else one.false), **(other.true if is_and else other.false)}
        return Condition(other.value, both if is_and else {}, {} if is_and else both, other.known)

    def either(self, test, true, false, node):
        """Return a truth value that one of two functions gives."""
        step = Node("prim::If", [test], None, self.place(node))
        self.frame.block.append(step)
        for body in (true, false):
            outer, self.frame = self.frame, Frame(step.block(), self.frame)
            try:
                self.frame.block.outputs_.append(body())
            finally:
                self.frame = outer
        return step.add(step.blocks_[0].outputs_[0].type)

    def identity(self, node):
        """Return `x is None`, `x is not None`, and what they tell of x."""
        one, other = self.expression(node.left), self.expression(node.comparators[0])
        one, other = self.as_value(one, node), self.as_value(other, node)
        is_not = isinstance(node.ops[0], ast.IsNot)
        left = node.left
        if one.type == NONE and other.type != NONE:
            one, other, left = other, one, node.comparators[0]
        if other.type != NONE:
            value = self.builtin("aten::__isnot__" if is_not else "aten::__is__", [one, other], {}, node)
            return Condition(value)
        options = options_of(one.type)
        if one.type == NONE:
            return Condition(known=not is_not)
        if NONE not in options and one.type not in (ANY, NOTHING):
            return Condition(known=is_not)
        value = self.emit("aten::__isnot__" if is_not else "aten::__is__", [one, other], (BOOL,), self.place(node))
        there, gone = {}, {}
        if isinstance(left, ast.Name) and one.type != ANY:
            there = {left.id: one_of([option for option in options if option != NONE])}
            gone = {left.id: NONE}
        return Condition(value, there if is_not else gone, gone if is_not else there)

    def narrow(self, name, kind):
        """Let a variable be known to be of a closer type in this block."""
        value = self.frame.find(name)
        if not isinstance(value, Value) or value.type == kind:
            return
        made = self.constant(None) if kind == NONE else self.emit("prim::unchecked_cast", [value], (kind,))
        if made.hint is None:
            made.hint = name
        self.frame.refine(name, made)
