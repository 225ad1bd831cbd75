"""Graphs of scripts as Python's own code: every step is a line, every value a variable."""
import collections

from dragon.vm.torch.core.scripting import kernels, steps
from dragon.vm.torch.core.scripting.arguments import direct
from dragon.vm.torch.core.scripting.spelling import literal, spell

DEEPEST = 12  # blocks within blocks: Python's compiler takes some twenty, and what is deeper stands in functions


class Program:
    """A graph made ready to run.

    Parameters
    ----------
    graph : Graph
        What to run.
    name : str
        For messages.

    """

    def __init__(self, graph, name):
        self.name, self.graph = name, graph
        self.room, self.functions = {}, []
        self.uses = collections.Counter(id(value) for node in graph.steps for value in uses(node))
        self.uses.update(map(id, graph.outputs_))
        lines = Writer(self, {}).function("run", graph)
        self.text = "\n".join(line for part in (*self.functions, lines) for line in part)
        exec(compile(self.text, f"<script {name}>", "exec"), self.room)
        self.run = self.room["run"]

    def __call__(self, *args):
        return self.run(*args)

    def keep(self, value):
        """Return the name under which a line finds a Python object."""
        name = f"k{len(self.room)}"
        self.room[name] = value
        return name


class Writer:
    """Writes one function.

    Parameters
    ----------
    program : Program
        Where functions and objects are kept.
    names : dict
        How values that come from outside are written, by identity.

    """

    def __init__(self, program, names):
        self.program, self.names = program, names
        self.lines, self.spare, self.count = [], [], 0

    # --- variables

    def name(self, value):
        """Return a variable for a value: one that nothing needs any longer is taken again, and its tensor let go."""
        self.names[id(value)] = found = self.variable()
        return found

    def variable(self):
        """Return a variable that holds nothing of use."""
        if self.spare:
            return self.spare.pop()
        self.count += 1
        return f"v{self.count}"

    def release(self, values):
        """Note that values are needed no longer."""
        for value in values:
            found = self.names.get(id(value), "")
            if found[:1] == "v" and found not in self.spare:
                self.spare.append(found)

    def told(self, values):
        """Return how values are written."""
        return [self.names[id(value)] for value in values]

    def line(self, text, depth):
        """Put a line at the end."""
        self.lines.append("    " * depth + text)

    # --- blocks

    def function(self, name, block):
        """Return the lines of a function of a block's inputs."""
        told = [self.name(value) for value in block.inputs_]
        self.lines.append(f"def {name}({', '.join(told)}):")
        held = self.block(block, 1)
        self.line(f"return {self.told(block.outputs_)[0] if block.outputs_ else None}", 1)
        self.release(held)
        return self.lines

    def block(self, block, depth):
        """Write the steps of a block, and return the values of which it still has variables."""
        ends = last_uses(block)
        nodes, closing = block.steps, []
        for number, node in enumerate(nodes):
            while closing and closing[-1][0] == number:  # the end of a `with` block: also where something is raised
                _, node_of, depth = closing.pop()
                self.line("except BaseException:", depth)
                self.step(node_of, depth + 1)
                self.line("raise", depth + 1)
            self.step(node, depth)
            if node.kind_ == "prim::Enter" and depth < DEEPEST:
                leaving = next((place for place in range(number + 1, len(nodes)) if nodes[place].kind_ == "prim::Exit"
                                and nodes[place].inputs_[0] is node.inputs_[0]), None)
                if leaving is not None and leaving > number + 1:
                    closing.append((leaving, nodes[leaving], depth))
                    self.line("try:", depth)
                    depth += 1
                    self.line("pass", depth)
            self.release(value for value in node.outputs_ if id(value) not in ends)
            self.release(ends["at", number])
        return ends["held"]

    def step(self, node, depth):
        """Write one step."""
        if node.kind_ == "prim::Constant":
            value = kernels.constant(node)
            self.names[id(node.outputs_[0])] = literal(value) or self.program.keep(value)
        elif node.blocks_ and depth >= DEEPEST:
            self.apart(node, depth)
        elif node.kind_ == "prim::If":
            self.choice(node, depth)
        elif node.kind_ == "prim::Loop":
            self.loop(node, depth)
        else:
            self.call(node, depth)

    def call(self, node, depth):
        """Write a step without blocks."""
        inputs = self.told(node.inputs_)
        text, is_statement = spell(node, inputs), False
        if text is None:
            maker = steps.MAKERS.get(node.kind_)
            if maker is not None:
                text, is_statement = maker(node, inputs, self.program.keep)
            else:
                text = self.operator(node, inputs)
        outputs = [self.name(value) for value in node.outputs_]
        if is_statement or not outputs:
            self.line(text, depth)
            return
        is_one = len(outputs) == 1 and node.kind_ not in ("prim::ListUnpack", "prim::TupleUnpack")
        self.line(f"{outputs[0] if is_one else ', '.join(outputs) + ','} = {text}", depth)

    def operator(self, node, inputs):
        """Return the call of an operator: what is known beforehand is made ready beforehand."""
        found = direct(node, self.program.uses)
        if found is None:
            return f"{self.program.keep(kernels.kernel(node))}({', '.join(inputs)})"
        function, args, named, shape = found
        told = [inputs[part] if isinstance(part, int) else literal(part.value) or self.program.keep(part.value)
                for part in args]
        told += [f"{name}={literal(part.value) or self.program.keep(part.value)}" for name, part in named.items()]
        text = f"{self.program.keep(function)}({', '.join(told)})"
        return text if shape is None else f"{self.program.keep(shape)}({text})"

    def moves(self, outputs, sources, depth):
        """Write that some variables become what others are, at once."""
        pairs = [(one, other) for one, other in zip(outputs, sources) if one != other]
        if pairs:
            self.line(f"{', '.join(one for one, _ in pairs)} = {', '.join(other for _, other in pairs)}", depth)

    def choice(self, node, depth):
        """Write a step that runs one of two blocks."""
        test = self.told(node.inputs_)[0]
        outputs = [self.name(value) for value in node.outputs_]
        for word, block in zip((f"if {test}:", "else:"), node.blocks_):
            self.line(word, depth)
            start = len(self.lines)
            held = self.block(block, depth + 1)
            self.moves(outputs, self.told(block.outputs_), depth + 1)
            self.release(held)
            if len(self.lines) == start:
                if word == "else:":
                    self.lines.pop()
                else:
                    self.line("pass", depth + 1)

    def loop(self, node, depth):
        """Write a step that runs a block again and again."""
        count, going, *starts = node.inputs_
        block = node.blocks_[0]
        turn, *inner = block.inputs_
        told_count, told_going, *told_starts = self.told(node.inputs_)
        carried = [self.name(value) for value in node.outputs_]
        for value, name in zip(inner, carried):
            self.names[id(value)] = name
        number = self.name(turn)
        self.moves(carried, told_starts, depth)
        goes_on = block.outputs_[0]
        is_counted = is_true(going) and is_true(goes_on)
        state = None
        if is_counted:
            self.line(f"for {number} in range({told_count}):", depth)
        else:
            state = self.variable()
            self.line(f"{number}, {state} = 0, {told_going}", depth)
            self.line(f"while {state} and {number} < {told_count}:", depth)
        start = len(self.lines)
        held = self.block(block, depth + 1)
        sources = self.told(block.outputs_)
        ends, news = carried, sources[1:]
        if not is_counted:
            ends, news = [state, *carried], sources
        self.moves(ends, news, depth + 1)
        if not is_counted:
            self.line(f"{number} += 1", depth + 1)
        if len(self.lines) == start:
            self.line("pass", depth + 1)
        self.release(held)
        self.spare.append(number)
        if state is not None:
            self.spare.append(state)

    def apart(self, node, depth):
        """Write a step with blocks as a call of a function of its own: Python's blocks go only so deep."""
        outside = list({id(value): value for value in outer_values(node)}.values())
        inner = Writer(self.program, {})
        told, names = [], []
        for value in outside:
            name = self.names[id(value)]
            if name[:1] == "v":
                told.append(name)
                names.append(inner.name(value))
            else:
                inner.names[id(value)] = name
        function = f"part{len(self.program.functions)}"
        self.program.functions.append(inner.lines)
        inner.lines.append(f"def {function}({', '.join(names)}):")
        inner.step(node, 1)
        inner.line("return " + ", ".join([*inner.told(node.outputs_), ""]) if node.outputs_ else "return ()", 1)
        outputs = [self.name(value) for value in node.outputs_]
        self.line(f"{', '.join(outputs) + ', = ' if outputs else ''}{function}({', '.join(told)})", depth)


def is_true(value):
    """Return whether a value is the constant True."""
    return value.node is not None and value.node.kind_ == "prim::Constant" and value.node.attributes["value"] is True


def uses(node):
    """Yield the values that a step and its blocks use."""
    yield from node.inputs_
    for block in node.blocks_:
        for inner in block.steps:
            yield from uses(inner)
        yield from block.outputs_


def outer_values(node):
    """Yield the values that a step and its blocks use and that stand before it."""
    own = set()

    def note(inner):
        for block in inner.blocks_:
            own.update(map(id, block.inputs_))
            for each in block.steps:
                own.update(map(id, each.outputs_))
                note(each)
    note(node)
    return (value for value in uses(node) if id(value) not in own)


def last_uses(block):
    """Return {("at", number of a step): values of the block of which it is the last use}.

    "held" are those that leave the block; the identities of all that are used are keys as well.
    """
    made = {id(value): value for node in block.steps for value in node.outputs_}
    found = {}
    for number, node in enumerate(block.steps):
        for value in uses(node):
            if id(value) in made:
                found[id(value)] = number
    held = {id(value): value for value in block.outputs_ if id(value) in made}
    found.update(dict.fromkeys(held, len(block.steps)))
    ends = {"held": list(held.values()), **{("at", number): [] for number in range(len(block.steps))}}
    for key, number in found.items():
        ends[key] = number
        if number < len(block.steps):
            ends["at", number].append(made[key])
    return ends
