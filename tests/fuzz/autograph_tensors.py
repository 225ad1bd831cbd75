"""Programs of vectors, floats, arrays, dictionaries, tapes and variables for `autograph.py`; some of them are wrong."""
import re
import signal

import numpy

from fuzz.autograph import Grower, compiled

SCALARS = "abc"
VECTORS = "uw"

PRELUDE = """def program(x, y, v, box):
    a, b, c = x, y, x - y
    u, w = v, v * 2 + y
    f, g = tf.cast(x, tf.float32), tf.constant(0.5)
    p = x > y
    d = {'k': x, 'f': f}
    t = (y, (g, p))""".split("\n")

# What is wrong in one place or another: undefined in a branch, other dtypes, structures, shapes, no tensors.
WRONG = [
    ["if {test}:", "    {new} = {value}", "{name} = {new} + 1"],
    ["if {test}:", "    {name} = tf.cast({name}, tf.float32)", "else:", "    {name} = {name} + 0"],
    ["if {test}:", "    {name} = None", "else:", "    {name} = {name} + 1"],
    ["if {test}:", "    {name} = {name}, {name}"],
    ["if {test}:", "    d = {{'k': x}}"],
    ["if {test}:", "    {new} = 'text'", "else:", "    {new} = 'other'"],
    ["if {test}:", "    {new} = 'text'", "else:", "    {new} = 1", "print({new})"],
    ["while {test}:", "    {name} = tf.cast({name}, tf.float32) + 1."],
    ["while {test}:", "    {name} = {name} + 1, 2"],
    ["while {test}:", "    {new} = {value}", "    {name} += {new} * 0 + 40", "{name} = {new} + {name}"],
    ["for {new} in tf.range(3):", "    {name} = None"],
    ["for {new} in tf.range(3):", "    u = tf.reduce_sum(u)"],
    ["for {new} in tf.range(3):", "    u = tf.concat([u, [1]], 0)"],
    ["for {new} in tf.range(3):", "    if {test}: return {name}", "{name} += 1"],
    ["for {new} in range(3):", "    if {test}: break"],
    ["for {new} in u:", "    t = {name}"],
    ["if u:", "    {name} += 1"],
    ["if {name}:", "    {name} += 1"],
    ["{name} = a + f"],
    ["{name} = u @ w"],
    ["tf.concat([u, [1.]], 0)"],
    ["{name} = [1, 2, 3][{name}]"],
    ["for {new} in {name}:", "    b += 1"],
    ["{name} = int({name})"],
    ["{name} = undefined_name + {name}"],
    ["del {new}"],
    ["raise ValueError('no: 7')"],
    ["if {test}:", "    raise KeyError('missing')"],
    ["assert {name} is None, 'never none'"],
    ["u = tf.reshape(u, [2, 3, 5])"],
    ["if {test}:", "    del {name}", "{name} = {name} + 1"],
    ["{name} = tf.cond({test}, lambda: 1, lambda: 2.)"],
    ["{name} = tf.cond({test}, lambda: (a, b), lambda: a)"],
    ["{name}, = tf.while_loop(lambda i: i < 5, lambda i: (i + 1, i), [{name}])"],
    ["{name}, = tf.while_loop(lambda i: i < 5, lambda i: [tf.cast(i, tf.float32)], [{name}])"],
    ["{name} = tf.switch_case({name} % 3, [])"],
    ["{name} = tf.map_fn(lambda e: tf.cast(e, tf.float32), u)"],
    ["for {new} in tf.range(3):", "    g = tf.Variable(1.)"],
    ["tf.Variable(2.)"],
    ["box.gone.assign(1)"],
    ["box.v.assign('text')"],
    ["u[0] = 1"],
    ["{name}.shape[0]"],
    ["len({name})"],
    ["{name}.numpy()"],
    ["while {test}:", "    yield {name}"],
]


class TensorGrower(Grower):
    """Grows one program over tensors of several kinds.

    Parameters
    ----------
    seed : int
        What tells programs apart; every third is wrong somewhere.

    """

    def __init__(self, seed):
        super().__init__(seed)
        self.is_wrong = seed % 3 == 2
        self.is_open = bool(seed % 2)  # whether the vector's size is left open by a signature
        self.names = 0

    def text(self):
        """Return a function `program(x, y, v, box)` as text, of a module that knows `tf`."""
        self.lines = list(PRELUDE)
        for _ in range(self.draw.randint(2, 5)):
            self.statement(1, False)
        if self.is_wrong:
            self.fault(1)
        self.say(1, "return a, b, c, u, w, f, g, p, d['k'], d['f'], t[0], t[1][0], t[1][1]")
        return "\n".join(self.lines) + "\n"

    def new(self):
        """Return a name that no other statement has."""
        self.names += 1
        return f"n{self.names}_"

    def pick(self, *choices):
        return self.draw.choice(choices)

    # --- expressions

    def number(self):
        """Return an integer that a program may know."""
        return self.pick("1", "2", "3", "5")

    def value(self):
        if self.draw.random() < 0.55:
            return super().value()
        one, vec = self.draw.choice(SCALARS), self.draw.choice(VECTORS)
        return self.pick(
            f"tf.reduce_sum({vec}) % 50", f"tf.size({vec})", f"tf.shape({vec})[0] + {one}", "d['k'] + 1", "t[0] * 2",
            f"tf.cast({self.pick('f', 'g')}, tf.int32)",
            f"tf.cond({self.test(False)}, lambda: {one} + 1, lambda: {one})",
            f"tf.switch_case(abs({one}) % 3, [lambda: a, lambda: b + 1, lambda: c * 2])",
            f"tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + {one}), [0, {one}])[1]",
            f"tf.case([({self.test(False)}, lambda: {one})], default=lambda: {one} - 1)",
            f"nested({one})", f"tf.where({self.test(False)}, {one}, 7)", f"tf.maximum({one}, {self.number()})",
            f"sum([{one} + e for e in (1, 2)])", f"max({one}, 3)" if self.draw.random() < 0.1 else f"{one} + 3",
            "tf.cast(box.v, tf.int32)", f"tf.cast(p, tf.int32) + {one}", f"tf.bitwise.bitwise_and({one}, 6)",
            f"tf.reduce_max(tf.concat([{vec}, [{one}]], 0))",
            f"tf.scan(lambda s, e: s + e, {vec}, initializer={one})[-1]"
            if self.draw.random() < 0.2 else f"tf.foldl(lambda s, e: (s + e) % 30, {vec}, initializer={one})")

    def vector(self):
        """Return an expression that is a vector of integers."""
        one, vec = self.draw.choice(SCALARS), self.draw.choice(VECTORS)
        return self.pick(
            f"{vec} + {one}", f"{vec} * 2 % 40", f"-{vec}", f"{vec} % 9", f"tf.map_fn(lambda e: e + {one}, {vec})",
            f"tf.where({vec} > {one}, {vec}, {one})", f"tf.cumsum({vec}) % 60", f"tf.reverse({vec}, [0])",
            f"tf.scan(lambda s, e: (s + e) % 20, {vec})" if self.draw.random() < 0.3 else f"{vec} + 1",
            f"tf.sort({vec})", f"tf.vectorized_map(lambda e: e * 2, {vec}) % 30"
            if self.draw.random() < 0.2 else f"{vec} - 1",
            f"({vec} if {self.test(False)} else {vec} + 1)", f"tf.abs({vec})",
            f"tf.cast(tf.cast({vec}, tf.float32) * g, tf.int32)", f"tf.clip_by_value({vec}, -5, {one} % 9 + 5)")

    def resized(self):
        """Return an expression that is a vector of another length."""
        one, vec, other = self.draw.choice(SCALARS), self.draw.choice(VECTORS), self.draw.choice(VECTORS)
        return self.pick(
            f"{vec}[:abs({one}) % 3 + 1]", f"tf.boolean_mask({vec}, {vec} > {one})", f"{vec}[1:]", f"{vec}[::2]",
            f"tf.concat([{vec}, {other}], 0)[:6]", f"{vec}[{vec} > {one}]"
            if self.draw.random() < 0.3 else f"{vec}[:2]",
            f"tf.range(abs({one}) % 4 + 1)", f"tf.repeat({vec}, 2)[:5]", f"tf.gather({vec}, [0])",
            f"tf.unique({vec})[0]",
            f"tf.stack([{one}, a, b])", f"tf.fill([abs({one}) % 3 + 1], 2)", f"tf.pad({vec}, [[0, 1]])[-4:]")

    def real(self):
        """Return an expression that is a float."""
        return self.pick(
            "f * 0.5 + g", "g - f * 0.25", f"tf.cast({self.draw.choice(SCALARS)}, tf.float32) * 0.125", "tf.tanh(f)",
            "tf.minimum(f, g)", f"(f if {self.test(False)} else g)", "d['f'] + 1.", "t[1][0] * 2. - 1.", "box.v * 0.5",
            f"tf.reduce_mean(tf.cast({self.draw.choice(VECTORS)}, tf.float32))", "slope(tf, f)", "tf.abs(g) + 1.",
            f"tf.cond({self.test(False)}, lambda: f * 2., lambda: g)")

    def test(self, deep=True):
        if self.draw.random() < 0.7:
            return super().test(deep)
        vec = self.draw.choice(VECTORS)
        return self.pick("p", "not p", "f > g", f"tf.reduce_any({vec} > 3)", f"tf.size({vec}) > 2", "t[1][1]", "f < 2.",
                         f"tf.reduce_all({vec} > -3)", "p and f > 0.", f"tf.size({vec}) > 0 and {vec}[0] > 1"
                         if self.draw.random() < 0.3 else "p or g > 3.", "d['k'] > 2")

    # --- statements

    def statement(self, depth, in_loop):
        if self.is_wrong and self.draw.random() < 0.08:
            return self.fault(depth)
        if depth > 3 or self.draw.random() < 0.4:
            return self.simple(depth)
        if self.draw.random() < 0.3:
            return self.special(depth)
        if depth == 1 and not in_loop and self.draw.random() < 0.05:
            self.say(depth, f"if {self.test()}: return a, b, c, u + 1, w, f, g, p, d['k'], f, t[0], g, p")
            return None
        kind = self.draw.random()
        if kind < 0.45:
            return self.branch(depth, in_loop)
        if kind < 0.75:
            return self.loop(depth)
        if in_loop:
            return self.say(depth, f"if {self.test()}: {self.pick('break', 'continue')}")
        return self.simple(depth)

    def simple(self, depth):
        kind = self.draw.random()
        name, vec = self.draw.choice(SCALARS), self.draw.choice(VECTORS)
        if kind < 0.3:
            self.say(depth, f"{name} = ({self.value()}) % 100")
        elif kind < 0.4:
            self.say(depth, f"{name} {self.pick('+=', '-=', '*=')} {self.number()}")
        elif kind < 0.55:
            self.say(depth, f"{vec} = {self.vector()}")
        elif kind < 0.63 and (self.is_wrong or depth == 1 or self.draw.random() < 0.2):
            self.say(depth, f"{vec} = {self.resized()}")
        elif kind < 0.75:
            self.say(depth, f"{self.pick('f', 'g')} = tf.clip_by_value({self.real()}, -9., 9.)")
        elif kind < 0.8:
            self.say(depth, f"p = {self.test(False)}")
        elif kind < 0.87:
            self.say(depth, self.pick(f"d['k'] = {name} + 1", f"d['f'] = {self.real()}", f"t = ({name}, (g, p))",
                                      f"t = (t[0] + 1, (f, {self.test(False)}))", "t = (t[0], (t[1][0] + 1., t[1][1]))",
                                      f"d = {{'k': {name}, 'f': d['f'] + 1.}}", "d['k'] += 1"))
        elif kind < 0.94:
            self.say(depth, self.pick("box.v.assign_add(1.)", "box.v.assign(f)", "box.n += 0 * box.n",
                                      "box.v.assign(box.v * 0.5 + g)", "assert tf.reduce_all(u > -10000), 'small'"))
        else:
            self.say(depth, self.pick(f"a, b = b, {name}", f"u, w = w, {vec}", "f, g = g, f"))

    def special(self, depth):
        """Say what takes more lines: arrays, tapes, loops over several things at once."""
        new, name, vec = self.new(), self.draw.choice(SCALARS), self.draw.choice(VECTORS)
        lines = self.pick(
            [f"{new} = tf.TensorArray(tf.int32, size=0, dynamic_size=True)", f"for i in tf.range(abs({name}) % 4 + 1):",
             f"    {new} = {new}.write(i, i * {name})", f"{name} = tf.reduce_sum({new}.stack()) % 50"],
            [f"{new} = tf.TensorArray(tf.int32, size=3, clear_after_read=False)",
             f"for i in range(3): {new} = {new}.write(i, i + {name})",
             f"{vec} = {new}.stack()[:tf.size({vec})]" if self.is_wrong else f"{name} = {new}.read(1) + {new}.read(2)"],
            [f"{new} = tf.TensorArray(tf.int32, size=tf.size({vec})).unstack({vec})",
             f"for i in tf.range(tf.size({vec})):", f"    if {vec}[i] > {name}: continue",
             f"    {name} = ({name} + {new}.read(i)) % 60"],
            ["with tf.GradientTape() as tape:", "    tape.watch(f)",
             f"    {new} = f * f * {self.pick('g', '2.', 'box.v')}",
             f"    if {self.test(False)}: {new} = {new} * 3.",
             f"f = tf.clip_by_value(tape.gradient({new}, f), -9., 9.)"],
            ["with tf.GradientTape() as tape:", f"    {new} = box.v * box.v",
             f"    for i in tf.range(2): {new} = {new} * box.v",
             f"g = tf.clip_by_value(tape.gradient({new}, box.v), -9., 9.)"],
            [f"for i, e in enumerate({vec}):", f"    {name} = ({name} + e * i) % 70"],
            [f"for e, h in zip({vec}, {vec}):", f"    {name} = ({name} + e - h) % 70"],
            [f"for e in {vec}:", f"    if e > {name}: {self.pick('break', 'continue')}", f"    {name} += 1"],
            ["for i in tf.range(2):", "    for j in tf.range(3):",
             f"        if j > {name}: {self.pick('break', 'continue')}",
             f"        {name} = ({name} + i * j + 1) % 90"],
            [f"{new} = [e + 1 for e in (a, b, c)]", f"{name} = {new}[1]"],
            [f"{new} = {{k: e for k, e in zip('rst', (a, b, c))}}", f"{name} = {new}['s']"],
            [f"{new} = []", f"for i in range(2): {new}.append({name} + i)", f"{name} = sum({new})"],
            [f"{new} = 0", f"while {new} < 3:", f"    {new} += 1", f"    {name} += {new}", "else:",
             f"    {name} = {name} - 1"]
            if self.draw.random() < 0.2 else [f"{name} += 1"],
            [f"def {new}(q):", f"    if q > {name}: return q - 1", "    return q + 1",
             f"{name} = {new}({self.draw.choice(SCALARS)}) % 80"],
            [f"{name} = (lambda q: q + 1 if {self.test(False)} else q)({name})"],
            ["for _ in tf.range(3):",
             "    tf.autograph.experimental.set_loop_options(shape_invariants=[(u, tf.TensorShape([None]))])",
             f"    u = tf.concat([u, [{name}]], 0)[-6:]"],
            ["try:", f"    {name} = {name} + 1", "finally:", "    b = b + 1"],
            ["with tf.name_scope('scope'):", f"    if {self.test(False)}: {name} = {name} + 2"])
        for line in lines:
            self.say(depth, line)

    def fault(self, depth):
        """Say something wrong."""
        for line in self.draw.choice(WRONG):
            self.say(depth, line.format(test=self.test(False), new="fresh", name=self.draw.choice(SCALARS),
                                        value="a + 1"))


SLOPE = """
def slope(tf, z):
    with tf.GradientTape() as tape:
        tape.watch(z)
        if z > 1.: q = z * z
        else: q = z * 3.
    return tape.gradient(q, z)
"""


class Box:
    """A variable that programs read and write, and a number that they only read."""

    def __init__(self, tf):
        self.v, self.n = tf.Variable(1.5), 3


INPUTS = [(0, 1, [1, 2, 3]), (1, 3, [4]), (5, 2, [-1, 7, 0, 2]), (-4, 7, [3, 3]), (9, -3, [0, 0, 5])]
SIGNATURES = {False: None, True: [(), (), (None,)]}
SECTIONS = re.compile(r"\n\n +(?:[A-Za-z_.]+(?:Error|Exception))(?:: |$)")


LONGEST = 30  # seconds of a call


def _late(*_):
    raise TimeoutError(f"longer than {LONGEST} seconds")


def runner(text, tf, is_open, graph=True):
    """Return a function of numbers and a list that runs a program once more each time, with variables of its own.

    Parameters
    ----------
    text : str
        What `TensorGrower.text` returned.
    tf : module
        Whose TensorFlow.
    is_open : bool
        Whether a signature leaves the vector's size open.
    graph : bool, optional, default=True
        Whether it is a `tf.function`.

    """
    program, box = compiled(text + SLOPE), Box(tf)

    def nested(q):
        return q * 2 + 1 if q > 2 else q
    # TensorFlow finds `set_loop_options` by its name only where `tf` is a module's.
    program.__globals__.update(tf=tf, nested=tf.function(nested) if graph else nested)

    def call(x, y, v):
        return program(x, y, v, box)
    if graph:
        signature = [tf.TensorSpec(shape, tf.int32) for shape in SIGNATURES[True]] if is_open else None
        call = tf.function(call, input_signature=signature)

    def run(x, y, v):
        signal.signal(signal.SIGALRM, _late)
        signal.alarm(LONGEST)
        try:
            found = [numpy.asarray(item) for item in call(*(tf.constant(one) for one in (x, y, v)))]
            return [*found, box.v.numpy()]
        except Exception as error:
            return error
        finally:
            signal.alarm(0)
    run.function = call
    return run


def words(error):
    """Return the words of an error's last section: genuine TensorFlow's begin with a traceback."""
    return set(re.findall(r"[a-z_0-9]{2,}", SECTIONS.split(str(error))[-1].lower()))


MORE = "plain Python where TensorFlow refuses"  # a program that is no graph here, which is no fault


def difference(found, wanted, fallback):
    """Return how an outcome differs from the genuine one, or None.

    Parameters
    ----------
    found, wanted : Union[list, Exception]
        What `run` of a `runner` returned.
    fallback : str, optional
        Why the program is no graph here.

    """
    if not isinstance(wanted, Exception) and not isinstance(found, Exception):
        return None if all(map(_same, found, wanted)) else "other values"
    named = [kind.__name__ for kind in type(found).__mro__]
    if isinstance(wanted, Exception) and _is_of_its_own(wanted):
        return None
    if type(wanted).__name__ not in named:
        return MORE if isinstance(wanted, Exception) and fallback else "another outcome"
    mine, theirs = words(found), words(wanted)
    is_alike = "[Op:" in str(found) or len(mine & theirs) >= 0.5 * min(len(mine), len(theirs))
    return None if is_alike else "another message"


def _same(mine, theirs):
    return mine.dtype == theirs.dtype and mine.shape == theirs.shape and numpy.allclose(mine, theirs, 1e-4, 1e-4)


def _is_of_its_own(wanted):
    """Return whether TensorFlow raises for reasons of its own: code that it cannot rewrite, errors it cannot make."""
    name, text = type(wanted).__name__, str(wanted)
    return name in ("StagingError", "AssertionError") or name == "OperatorNotAllowedInGraphError" and "bool" in text


def compare(text, is_open, tf, genuine):
    """Return how a program differs from genuine TensorFlow, and why it is no graph; each None if it does not."""
    mine, theirs = runner(text, tf, is_open), runner(text, genuine, is_open)
    for numbers in INPUTS if is_open else INPUTS[:2]:
        found, wanted = mine(*numbers), theirs(*numbers)
        reason = mine.function.fallback
        what = difference(found, wanted, reason)
        if what == MORE:
            return None, MORE
        if what:
            return f"{what} for {numbers}, {reason}:\n  got    {found!r}\n  wanted {wanted!r}", reason
        if isinstance(wanted, Exception):
            return None, reason
    counts = [one.function.experimental_get_tracing_count() for one in (mine, theirs)]
    return (None if counts[0] == counts[1] else f"got {counts[0]} traces, expected {counts[1]}"), reason
