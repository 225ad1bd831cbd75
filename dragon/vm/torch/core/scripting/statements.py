"""The statements of scripts: assignments, branches, loops."""
import ast

from dragon.core.python_operators import ARITHMETIC, BITWISE, OPERATORS
from dragon.vm.torch.core.python_operators import ATEN, scripts_name
from dragon.vm.torch.core.scripting.failures import Missing, refuse
from dragon.vm.torch.core.scripting.frontend import NotSupportedError
from dragon.vm.torch.core.scripting.graph import Node, Value
from dragon.vm.torch.core.scripting.loops import Loops
from dragon.vm.torch.core.scripting.scopes import Frame, Rows, Sugar, TypeName
from dragon.vm.torch.core.scripting.types import (
    FLOAT, INT, NONE, NOTHING, STRING, TENSOR, ClassType, DictType, ListType, TupleType, fits, join)

# Of a class of nodes: the operator that writes into a tensor, and the one that makes a new value.
INPLACE = {getattr(ast, OPERATORS[name].node): (f"{ATEN[name]}_", scripts_name(name)) for name in ARITHMETIC}
INPLACE.update((getattr(ast, OPERATORS[name].node), (f"__i{name}__", scripts_name(name))) for name in BITWISE)
INPLACE[ast.MatMult] = None, scripts_name("matmul")


class Statements(Loops):
    """The part of the compiler that reads statements."""

    def statements(self, body):
        """Compile statements in order."""
        for statement in body:
            if self.frame.is_dead:
                return
            reader = getattr(self, "do_" + type(statement).__name__, None)
            if reader is None:
                refuse(f"{type(statement).__name__} statements aren't supported", self.place(statement),
                       NotSupportedError)
            reader(statement)

    def do_Pass(self, node):
        """Do nothing."""

    def do_Expr(self, node):
        """Evaluate an expression for what it does."""
        if isinstance(node.value, ast.Constant) and (isinstance(node.value.value, str) or node.value.value is ...):
            return
        self.expression(node.value)

    def do_Raise(self, node):
        """Raise; nothing that follows is reached."""
        place, error = self.place(node), node.exc
        if error is None:
            refuse("raise without an exception isn't supported", place, NotSupportedError)
        name = self.constant("")
        called = error.func if isinstance(error, ast.Call) else error
        told = ast.unparse(called).split(".")[-1]
        if isinstance(error, ast.Call) and error.args:
            parts = [self.value(part) for part in error.args]
            parts = [part if part.type == STRING else self.builtin("aten::str", [part], {}, node) for part in parts]
            name = parts[0]
            for part in parts[1:]:
                name = self.builtin("aten::add", [name, part], {}, node)
        self.emit("prim::RaiseException", [name, self.constant("builtins." + told)], (), place)
        self.frame.is_dead = True

    def do_Delete(self, node):
        """Remove elements, or variables."""
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                owner, key = self.value(target.value), self.value(target.slice)
                if isinstance(owner.type, ClassType):
                    self.call_named(owner, "__delitem__", [key], node)
                else:
                    self.builtin("aten::Delete", [owner, key], {}, node)
            elif isinstance(target, ast.Name):
                self.frame.names.pop(target.id, None)
                self.frame.errors[target.id] = f"undefined value {target.id}"
            else:
                refuse("del of this is not supported", self.place(node), NotSupportedError)

    # --- assignments

    def do_Assign(self, node):
        """Set variables, attributes or elements."""
        if getattr(node, "is_unset", False):
            self.frame.put("$ret", self.emit("prim::Uninitialized", (), (self.declared or NOTHING,)))
            return
        wanted = self.declared if getattr(node, "is_return", False) else None
        first = node.targets[0]
        if isinstance(node.value, ast.Tuple) and isinstance(first, ast.Tuple) and len(first.elts) == len(
                node.value.elts) and not any(isinstance(part, ast.Starred) for part in (*first.elts, *node.value.elts)):
            self.assign_parts(first, Rows([self.expression(part) for part in node.value.elts]), node)
            return
        if wanted is not None:
            node.value.wanted_type = wanted
        found = self.expression(node.value, wanted)
        if getattr(node, "is_return", False):
            found = self.returns(self.as_value(found, node), node)
            self.frame.put("$ret", found)
            return
        for target in node.targets:
            self.assign(target, found, node)

    def do_AnnAssign(self, node):
        """Set a variable of a declared type."""
        kind = self.type_of(node.annotation)
        if node.value is None:
            return
        node.value.wanted_type = kind  # of which `tolist` makes lists
        found = self.value(node.value, kind)
        fitting = self.fitted(found, kind, node)
        if not fits(fitting.type, kind):
            refuse(f"Variable '{ast.unparse(node.target)}' is annotated with type {kind.annotation()} but is being "
                   f"assigned to a value of type {found.type.annotation()}", self.place(node))
        if isinstance(node.target, ast.Name) and fitting.type != kind:
            fitting = self.widened(fitting, kind)
        self.assign(node.target, fitting, node, kind)

    def assign(self, target, found, node, kind=None):
        """Set one target."""
        if isinstance(target, ast.Name):
            self.assign_name(target.id, found, node, kind)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.assign_parts(target, found, node)
        elif isinstance(target, ast.Attribute):
            self.assign_attribute(target, found, node)
        elif isinstance(target, ast.Subscript):
            self.assign_element(self.value(target.value), self.index_of(target.slice), self.as_value(found, node), node)
        else:
            refuse("Expected a variable, an attribute or an element on the left-hand side", self.place(target),
                   NotSupportedError)

    def assign_name(self, name, found, node, kind=None):
        """Set a variable; in inner blocks it keeps its type."""
        frame = self.frame
        while frame.continues:
            frame = frame.parent
        outer = frame.parent.find(name) if frame.parent is not None else None
        if outer is not None and not name.startswith("$"):
            if isinstance(found, Sugar) or isinstance(outer, Sugar):
                if found is not outer:
                    refuse(f"Cannot re-assign '{name}' to a value of type {told(found)} because {name} is not a "
                           "first-class value.  Only reassignments to first-class values are allowed",
                           self.place(node))
            else:
                wanted = self.declared_type(name, outer)
                found = self.fitted_to(found, wanted, node)
                if not fits(found.type, wanted):
                    refuse(f"Variable '{name}' previously had type {wanted.annotation()} but is now being assigned to "
                           f"a value of type {found.type.annotation()}", self.place(node))
        self.frame.put(name, found)

    def declared_type(self, name, outer):
        """Return the type of a variable where it was set, refinements aside."""
        frame = self.frame
        while frame.continues:
            frame = frame.parent
        frame = frame.parent
        while frame is not None:
            if name in frame.names and name not in frame.refined:
                return frame.names[name].type
            frame = frame.parent
        return outer.type

    def assign_parts(self, target, found, node):
        """Set several targets from a tuple or list."""
        targets = target.elts
        starred = [number for number, part in enumerate(targets) if isinstance(part, ast.Starred)]
        parts = self.unpacked(found, len(targets), node, bool(starred))
        if starred:
            before, after = starred[0], len(targets) - starred[0] - 1
            if len(parts) < before + after:
                refuse(f"need at least {before + after} values to unpack but got {len(parts)}", self.place(node))
            middle = parts[before:len(parts) - after]
            made = self.emit("prim::TupleConstruct", middle, (TupleType([part.type for part in middle]),))
            parts = [*parts[:before], made, *parts[len(parts) - after:]]
            targets = [part.value if isinstance(part, ast.Starred) else part for part in targets]
        elif len(parts) != len(targets):
            word = "need" if len(parts) > len(targets) else "too few values to unpack: need"
            refuse(f"Provided tuple: {word} {len(targets)} values but found {len(parts)}", self.place(node))
        for part, value in zip(targets, parts):
            self.assign(part, value, node)

    def unpacked(self, found, count, node, any_count=False):
        """Return the elements of a tuple or list."""
        if isinstance(found, Rows):
            return found.items
        value = self.as_value(found, node)
        if isinstance(value.type, TupleType):
            made = self.emit("prim::TupleUnpack", [value], value.type.elements, self.place(node))
            return [made] if isinstance(made, Value) else list(made.outputs_)
        if type(value.type) is ListType and not any_count:
            made = self.emit("prim::ListUnpack", [value], [value.type.element] * count, self.place(node))
            return [made] if isinstance(made, Value) else list(made.outputs_)
        if value.type == TENSOR and not any_count:
            rows = self.builtin("aten::unbind", [value], {}, node)
            return self.unpacked(rows, count, node)
        return refuse(f"{value.type.annotation()} cannot be used as a tuple", self.place(node))

    def assign_attribute(self, target, found, node):
        """Set an attribute of an instance."""
        owner = self.value(target.value)
        if not isinstance(owner.type, ClassType):
            refuse(f"Tried to set an attribute: {target.attr} on a non-class: {owner.type.annotation()}",
                   self.place(node))
        kinds = owner.type.attributes
        value = self.as_value(found, node)
        if target.attr not in kinds:
            setter = owner.type.properties.get(target.attr, (None, None))[1]
            if setter is not None:
                self.call_schema(setter.ready(), [owner, value], {}, node, method=setter.name)
                return
            is_init = not owner.type.is_module and self.tree.name == "__init__" and owner.type is self.owner
            if not is_init:
                refuse(f"Tried to set nonexistent attribute: {target.attr}. Did you forget to initialize it in "
                       "__init__()?", self.place(node))
            kinds[target.attr] = value.type
        value = self.fitted(value, kinds[target.attr], node)
        if not fits(value.type, kinds[target.attr]):
            refuse(f"Wrong type for attribute assignment. Expected {kinds[target.attr].annotation()} but got "
                   f"{value.type.annotation()}", self.place(node))
        self.emit("prim::SetAttr", [owner, value], (), self.place(node), name=target.attr)

    def assign_element(self, owner, index, value, node):
        """Set elements of a list, dictionary or tensor."""
        if owner.type == TENSOR:
            self.assign_part(owner, index, value, node)
        elif isinstance(owner.type, TupleType):
            refuse("Tuples cannot be assigned to", self.place(node))
        elif isinstance(owner.type, ClassType):
            self.call_named(owner, "__setitem__", [self.value(index), value], node)
        else:
            if isinstance(index, ast.Slice):
                refuse("Sliced lists cannot be assigned to", self.place(node), NotSupportedError)
            element = owner.type.value if isinstance(owner.type, DictType) else owner.type.element
            self.builtin("aten::_set_item", [owner, self.value(index), self.fitted(value, element, node)], {}, node)

    def assign_part(self, tensor, index, value, node):
        """Write into a part of a tensor."""
        part, indices = self.sliced(tensor, index, node)
        if indices is not None:
            if value.type != TENSOR:
                value = self.scalar_tensor(value, part, node)
            self.builtin("aten::index_put_", [part, indices, value], {}, node)
        elif value.type == TENSOR:
            self.builtin("aten::copy_", [part, value], {}, node)
        else:
            self.builtin("aten::fill_", [part, value], {}, node)

    def scalar_tensor(self, value, like, node):
        """Return a number as a tensor of another's type."""
        kind = self.emit("prim::dtype", [like], (INT,), self.place(node))
        where = self.emit("prim::device", [like], (self.scripts.device_type,), self.place(node))
        return self.builtin("aten::tensor", [value], {"dtype": kind, "device": where}, node)

    def do_AugAssign(self, node):
        """Change a variable, attribute or element in place."""
        method, operator = INPLACE[type(node.op)]
        load = ast.copy_location(type(node.target)(**{
            **{name: getattr(node.target, name) for name in node.target._fields}, "ctx": ast.Load()}), node.target)
        if isinstance(node.target, ast.Subscript):
            owner = self.value(node.target.value)
            if owner.type == TENSOR:
                part, indices = self.sliced(owner, node.target.slice, node)
                if indices is None:
                    self.builtin("aten::" + method, [part, self.value(node.value)], {}, node)
                else:
                    old = self.builtin("aten::index", [part, indices], {}, node)
                    new = self.builtin(operator, [old, self.value(node.value)], {}, node)
                    self.builtin("aten::index_put_", [part, indices, new], {}, node)
                return
            if isinstance(owner.type, ClassType):
                place = self.value(node.target.slice)
                old = self.call_named(owner, "__getitem__", [place], node)
                self.call_named(owner, "__setitem__", [place, self.builtin(operator, [old, self.value(node.value)],
                                                                           {}, node)], node)
                return
            place = self.value(node.target.slice)
            old = self.builtin("aten::__getitem__", [owner, place], {}, node)
            new = self.updated(old, self.value(node.value), method, operator, node)
            self.builtin("aten::_set_item", [owner, place, new], {}, node)
            return
        found = self.updated(self.value(load), self.value(node.value), method, operator, node)
        self.assign(node.target, found, node)

    def updated(self, old, new, method, operator, node):
        """Return what `old op= new` gives."""
        if old.type == TENSOR and method is not None:
            return self.builtin("aten::" + method, [old, new], {}, node)
        if isinstance(old.type, ClassType):
            words = {"aten::" + name: f"__i{name}__" for name in ("add", "sub", "mul")}
            if words.get(operator) in self.scripts.method_names(old.type):
                return self.call_named(old, words[operator], [new], node)
        if type(old.type) is ListType and operator == "aten::add":
            return self.builtin("aten::add_", [old, self.fitted(new, old.type, node)], {}, node)
        return self.binary(operator, old, new, node)

    # --- branches

    def do_If(self, node):
        """Compile a branch; of conditions that are known, one side alone."""
        condition = self.condition(node.test)
        self.branch(condition, lambda: self.statements(node.body), lambda: self.statements(node.orelse), node)

    def branch(self, condition, true, false, node):
        """Compile two blocks and join what they set."""
        if condition.known is not None:
            for name, kind in (condition.true if condition.known else condition.false).items():
                self.narrow(name, kind)
            (true if condition.known else false)()
            return
        step = Node("prim::If", [condition.value], None, self.place(node))
        self.frame.block.append(step)
        frames = []
        for number, (body, refined) in enumerate(((true, condition.true), (false, condition.false))):
            continues = getattr(node, "continues", None) == number
            outer, self.frame = self.frame, Frame(step.block(), self.frame, continues)
            try:
                for name, kind in refined.items():
                    self.narrow(name, kind)
                body()
            finally:
                frames.append(self.frame)
                self.frame = outer
        self.join_frames(step, frames, node)

    def join_frames(self, step, frames, node):
        """Let variables that branches set be outputs of the branch."""
        dead = [frame.is_dead for frame in frames]
        if all(dead):
            self.frame.is_dead = True
            return
        if any(dead):  # what holds in the living branch holds from here on
            live = frames[dead.index(False)]
            names = list(live.names)
        else:
            names = list(dict.fromkeys([*frames[0].names, *frames[1].names]))
        for name in names:
            if not any(dead) and all(name in frame.refined or name not in frame.names for frame in frames):
                both = [frame.names.get(name) for frame in frames]
                if None in both or both[0].type != both[1].type:
                    continue
            values = [frame.find(name) for frame in frames]
            if any(dead):
                values[dead.index(True)] = None
            elif not name.startswith("$"):
                left = [number for number in getattr(node, "leaves", ()) if self.is_moot(values, number)]
                values = [None if number in left else value for number, value in enumerate(values)]
                if len(left) == 2:  # both sides have left: nothing follows that could read it
                    continue
                if left:
                    self.join_name(name, values, step, frames, [number in left for number in (0, 1)], node)
                    continue
            self.join_name(name, values, step, frames, dead, node)
        for frame, is_dead in zip(frames, dead):
            if not is_dead:
                for name, reason in frame.errors.items():
                    if name not in self.frame.names:
                        self.frame.errors.setdefault(name, reason)

    def is_moot(self, values, number):
        """Return whether a variable of a side that has left need not fit: nothing reads it there any longer."""
        one, other = values[number], values[1 - number]
        if isinstance(other, Sugar) or other is None:
            return False
        return one is None or isinstance(one, Sugar) or join(one.type, other.type) is None

    def join_name(self, name, values, step, frames, dead, node):
        """Make one variable an output of a branch."""
        if any(isinstance(value, Sugar) for value in values):
            kept = [value for value in values if value is not None]
            if len(kept) == 1 and any(dead) or len(kept) == 2 and kept[0] is kept[1]:
                self.frame.put(name, kept[0])
            else:
                self.frame.errors[name] = f"{name} is not a first-class value after this branch"
                self.frame.names.pop(name, None)
            return
        if not any(dead) and None in values:
            side = "true" if values[0] is None else "false"
            self.frame.errors[name] = f"{name} is not defined in the {side} branch"
            return
        kinds = [value.type for value in values if value is not None]
        kind = kinds[0] if len(kinds) == 1 else join(*kinds)
        is_wide = kind is None and name == "$ret" and self.declared is not None
        kind = self.declared if is_wide else kind  # `Any`, say: both have been found to fit
        if kind is None:
            self.frame.errors[name] = (f"Type mismatch: {name} is set to type {kinds[0].annotation()} in the true "
                                       f"branch and type {kinds[1].annotation()} in the false branch")
            self.frame.names.pop(name, None)
            if name == "$ret":
                refuse(self.frame.errors[name], self.place(node))
            return
        was_refined = any(dead) and name in frames[dead.index(False)].refined
        for frame, value in zip(frames, values):
            block = frame.block
            if value is None:
                value = Node("prim::Uninitialized", (), None, self.place(node)).add(kind)
                block.append(value.node)
            elif value.type == NOTHING and value.node is not None:
                value.type = kind
            elif is_wide:
                value = Node("prim::unchecked_cast", [value], None, self.place(node)).add(kind)
                block.append(value.node)
            block.outputs_.append(value)
        made = step.add(kind, name if name.isidentifier() else None)
        if was_refined:
            self.frame.refine(name, made)
        else:
            self.frame.names[name] = made
            self.frame.refined.discard(name)
            self.frame.errors.pop(name, None)

    def do_With(self, node):
        """Compile a block within a context, `torch.no_grad()` say."""
        entered = []
        for item in node.items:
            owner = self.context(item.context_expr, node)
            found = self.emit("prim::Enter", [owner], (TENSOR if owner.type in (FLOAT, NONE) else NONE,),
                              self.place(node))
            if isinstance(owner.type, ClassType):
                schema = self.scripts.method(owner.type, "__enter__", self.place(node)).schema
                self.scripts.method(owner.type, "__exit__", self.place(node))
                found.type = schema.result or NONE
            if item.optional_vars is not None:
                self.assign(item.optional_vars, found, node)
            entered.append(owner)
        self.statements(node.body)
        for owner in reversed(entered):
            if not self.frame.is_dead:
                self.emit("prim::Exit", [owner], (), self.place(node))

    def context(self, node, where):
        """Return an object that a `with` block is entered with."""
        owner = self.value(node)
        if not isinstance(owner.type, ClassType):
            raise Missing(f"torch.jit.script: got a with block of {ast.unparse(node)}, expected an instance of a "
                          f"script class or torch.no_grad():\n{self.place(where)}")
        return owner


def told(found):
    """Return what something is, for messages."""
    return found.type.annotation() if isinstance(found, Value) else (
        found.type.annotation() if isinstance(found, TypeName) else found.told())
