"""The loops of scripts, over what is counted and what is known beforehand."""
import ast

from dragon.vm.torch.core.scripting.failures import refuse
from dragon.vm.torch.core.scripting.frontend import NotSupportedError
from dragon.vm.torch.core.scripting.graph import Node, Value
from dragon.vm.torch.core.scripting.scopes import Counted, EnumClass, Frame, Rows, Sugar
from dragon.vm.torch.core.scripting.types import (
    BOOL, INT, NOTHING, STRING, TENSOR, ClassType, DictType, ListType, TupleType, fits, options_of)

MOST_TURNS = 9223372036854775807


class Loops:
    """The part of the compiler that reads loops."""

    def do_While(self, node):
        """Compile a loop with a condition."""
        def test():
            return self.condition(node.test).as_value(self, node)
        self.loop(node, self.constant(MOST_TURNS), test, lambda turn: self.statements(node.body), node.body)

    def do_For(self, node):
        """Compile a loop over a range, a list, a dictionary, a tensor; over what is known beforehand turn by turn."""
        self.over(node, self.expression(node.iter), node.target, lambda: self.statements(node.body), node.body)

    def over(self, node, items, target, body, assigned):
        """Run a body for each item."""
        rows = self.rows_of(items, node)
        if rows is not None:
            self.unroll(node, rows, target, body)
            return
        count, element = self.countable(items, node)

        def turn(number):
            self.assign(target, element(number), node)
            body()
        names = [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]
        self.loop(node, count, None, turn, assigned, names)

    def unroll(self, node, rows, target, body, start=0):
        """Compile a body once for each of several things."""
        stop = getattr(node, "stop", None)
        for number in range(start, len(rows)):
            self.assign(target, rows[number], node)
            body()
            if self.frame.is_dead:
                return
            if stop is not None and number + 1 < len(rows):
                test = ast.copy_location(ast.UnaryOp(ast.Not(), ast.copy_location(ast.Name(stop, ast.Load()), node)),
                                         node)
                following = number + 1
                self.branch(self.condition(test),
                            lambda: self.unroll(node, rows, target, body, following), lambda: None, node)
                return

    def loop(self, node, count, test, body, assigned, names=()):
        """Emit a loop: variables that are set within and were set before go from turn to turn."""
        stop = getattr(node, "stop", None)
        first = self.constant(True) if test is None else test()
        step = Node("prim::Loop", [count, first], None, self.place(node))
        carried = [name for name in self.assigned(assigned, names) if isinstance(self.frame.find(name), Value)]
        block = step.block()
        turn = block.take(INT, "i")
        outer, self.frame = self.frame, Frame(block, self.frame)
        starts = [outer.find(name) for name in carried]
        for name, start in zip(carried, starts):
            self.frame.names[name] = block.take(self.declared_type(name, start), name.strip("$"))
        inner = dict(self.frame.names)
        entry = Frame(block, self.frame)  # what the body sets must fit what was there
        self.frame = entry
        outer.block.append(step)
        try:
            body(turn)
            self.next_turn(test, stop, node)
            ends = [self.frame.find(name) for name in carried]
        finally:
            self.frame = outer
        if entry.is_dead:
            ends = [inner[name] for name in carried]
        for name, start, end in zip(carried, starts, ends):
            self.carry(name, start, end, inner[name], step, block, node)
        for name in entry.names:
            if outer.find(name) is None:
                outer.errors.setdefault(name, f"{name} is not defined outside of the loop that sets it")

    def next_turn(self, test, stop, node):
        """Emit whether the loop goes on."""
        if self.frame.is_dead:
            self.frame.block.outputs_.append(self.constant(False))
            return
        if stop is None:
            going = self.constant(True) if test is None else test()
        else:
            stopped = self.frame.find(stop)
            going = self.emit("aten::__not__", [stopped], (BOOL,), self.place(node))
            if test is not None:
                going = self.either(going, test, lambda: self.constant(False), node)
        self.frame.block.outputs_.append(going)

    def carry(self, name, start, end, inner, step, block, node):
        """Let one variable go from turn to turn."""
        if isinstance(end, Sugar):
            refuse(f"Cannot re-assign '{name}' because it is not a first-class value", self.place(node))
        if inner.type == NOTHING:
            start.type = inner.type = end.type
        if not fits(end.type, inner.type):
            refuse(f"Variable '{name}' previously had type {inner.type.annotation()} but is now being assigned to a "
                   f"value of type {end.type.annotation()}", self.place(node))
        step.inputs_.append(start)
        block.outputs_.append(end)
        self.frame.names[name] = step.add(inner.type, name if name.isidentifier() else None)
        self.frame.refined.discard(name)

    def assigned(self, body, names):
        """Return the names that statements set."""
        found = list(names)
        for statement in body:
            for part in ast.walk(statement):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    found.append(part.id)
                elif isinstance(part, (ast.ListComp, ast.DictComp)):
                    pass
        return list(dict.fromkeys(found))

    def countable(self, items, node):
        """Return (number of turns, function that gives the item of a turn)."""
        if isinstance(items, Counted):
            return self.counted(items, node)
        value = self.as_value(items, node)
        if isinstance(value.type, DictType):
            value = self.builtin("aten::keys", [value], {}, node)
        if isinstance(value.type, ClassType):
            refuse(f"'{value.type.annotation()}' object is not iterable", self.place(node))
        if type(value.type) is not ListType and value.type not in (TENSOR, STRING):
            refuse(f"'{value.type.annotation()}' object is not iterable", self.place(node))
        count = self.builtin("aten::len", [value], {}, node)
        if value.type == TENSOR:
            zero = self.constant(0)
            return count, lambda turn: self.builtin("aten::select", [value, zero, turn], {}, node)
        return count, lambda turn: self.builtin("aten::__getitem__", [value, turn], {}, node)

    def counted(self, items, node):
        """Return the same for ranges, `enumerate` and `zip`."""
        if items.kind == "range":
            parts = items.parts
            if len(parts) == 1:
                return parts[0], lambda turn: turn
            start, end = parts[:2]
            step = parts[2] if len(parts) > 2 else self.constant(1)
            count = self.builtin("aten::__range_length", [start, end, step], {}, node)
            return count, lambda turn: self.builtin("aten::__derive_index", [turn, start, step], {}, node)
        if items.kind == "enumerate":
            count, element = self.countable(items.parts[0], node)
            first = items.parts[1]

            def both(turn):
                number = turn if first is None else self.builtin("aten::add", [turn, first], {}, node)
                return Rows([number, element(turn)])
            return count, both
        pairs = [self.countable(part, node) for part in items.parts]
        counts = self.emit("prim::ListConstruct", [count for count, _ in pairs], (ListType(INT),))
        least = self.scripts.schema_of("prim::min", [counts])
        count = self.emit("prim::min", [counts], (INT,), self.place(node), least)
        return count, lambda turn: Rows([element(turn) for _, element in pairs])

    def rows_of(self, items, node):
        """Return what is known to be in a row beforehand, or None."""
        if isinstance(items, Rows):
            return items.items
        if isinstance(items, EnumClass):
            return [self.constant(member, items.type) for member in items.type.made]
        if isinstance(items, Counted) and items.kind != "range":
            parts = items.parts[:1] if items.kind == "enumerate" else items.parts
            rows = [self.rows_of(part, node) for part in parts]
            if all(row is None for row in rows):
                return None
            count = min(len(row) for row in rows if row is not None)
            if items.kind == "enumerate":
                start = 0 if items.parts[1] is None else self.known_number(items.parts[1], node)
                return [Rows([self.constant(start + number), part]) for number, part in enumerate(rows[0])]
            columns = [row if row is not None else [self.countable(part, node)[1](self.constant(number))
                                                    for number in range(count)] for row, part in zip(rows, parts)]
            return [Rows(row) for row in zip(*columns)]
        if isinstance(items, Sugar):
            return self.module_rows(items, node)
        if isinstance(items.type, ClassType) and items.type.is_module:
            return self.module_rows(items, node)
        if isinstance(items.type, TupleType):
            return self.unpacked(items, 0, node, any_count=True) if items.type.elements else []
        return None

    def known_number(self, value, node):
        """Return a constant's number."""
        if value.node is None or value.node.kind_ != "prim::Constant":
            refuse("expected a constant here", self.place(node))
        return value.node.attributes["value"]

    # --- comprehensions

    def on_ListComp(self, node, wanted=None):
        """Return a list that a loop fills."""
        rows = self.comprehension(node, node.elt, self.wanted_element(wanted))
        if isinstance(rows, list):
            if rows and all(isinstance(part, Sugar) for part in rows):
                return Rows(rows)
            return self.list_of([self.as_value(part, node) for part in rows], self.wanted_element(wanted), node)
        return rows

    on_GeneratorExp = on_ListComp

    def on_DictComp(self, node, wanted=None):
        """Return a dictionary that a loop fills."""
        kind = next((option for option in options_of(wanted) if isinstance(option, DictType)), None) \
            if wanted is not None else None
        made = self.emit("prim::DictConstruct", (), (kind or DictType(NOTHING, NOTHING),), self.place(node))

        def put(dictionary):
            key, value = self.value(node.key), self.value(node.value)
            if dictionary.type.index == NOTHING:
                dictionary.type = DictType(key.type, value.type)
            self.builtin("aten::_set_item", [dictionary, key, value], {}, node)
        self.comprehending(node, lambda: put(made))
        return made

    def comprehension(self, node, element, wanted):
        """Return the list that a comprehension makes, or its items if they are known beforehand."""
        items = self.expression(node.generators[0].iter)
        rows = self.rows_of(items, node)
        if rows is not None and not node.generators[0].ifs and len(node.generators) == 1:
            found, outer = [], self.frame
            for row in rows:
                self.frame = Frame(outer.block, outer)
                try:
                    self.bind_target(node.generators[0].target, row, node)
                    found.append(self.expression(element, wanted))
                finally:
                    self.frame = outer
            return found
        made = self.emit("prim::ListConstruct", (), (ListType(wanted or NOTHING),), self.place(node))

        def append():
            value = self.value(element, wanted)
            if made.type.element == NOTHING:
                made.type = ListType(value.type)
            self.builtin("aten::append", [made, value], {}, node)
        self.comprehending(node, append, items)
        return made

    def comprehending(self, node, body, items=None):
        """Run a body in the loop of a comprehension."""
        if len(node.generators) != 1:
            refuse("Only a single generator is currently supported", self.place(node), NotSupportedError)
        generator = node.generators[0]
        if generator.ifs:
            refuse("Comprehension ifs are not supported yet", self.place(node), NotSupportedError)
        items = self.expression(generator.iter) if items is None else items
        rows = self.rows_of(items, node)
        outer = self.frame
        if rows is not None:
            for row in rows:
                self.frame = Frame(outer.block, outer)
                self.bind_target(generator.target, row, node)
                body()
                self.frame = outer
            return
        count, element = self.countable(items, node)

        def turn(number):
            self.bind_target(generator.target, element(number), node)
            body()
        self.loop(node, count, None, turn, (), ())

    def bind_target(self, target, found, node):
        """Set the variables of a comprehension, which hide those around."""
        if isinstance(target, ast.Name):
            self.frame.names[target.id] = found
            return
        for part, value in zip(target.elts, self.unpacked(found, len(target.elts), node)):
            self.bind_target(part, value, node)
