"""Random programs of nested branches and loops over tensors: as graphs, as plain Python, and under genuine TensorFlow.

    python tests/fuzz/autograph.py 0 500               programs 0 to 499, compared with plain Python
    python tests/fuzz/autograph.py 0 100 --genuine     compared with genuine TensorFlow as well
    python tests/fuzz/autograph.py 0 100 --tensors     programs of `autograph_tensors.py`, with genuine TensorFlow

A program that differs is printed; so is how many ran as one graph, and why others did not.
"""
import argparse
import collections
import linecache
import logging
import os
import random
import sys
import warnings

import numpy

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

INPUTS = [(0, 1), (1, 3), (5, 2), (-4, 7), (9, -3), (2, 2)]
NAMES = "abc"


class Grower:
    """Grows one program.

    Parameters
    ----------
    seed : int
        What tells programs apart.

    """

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.lines, self.loops, self.counters = [], 0, 0

    def text(self):
        """Return a function `program(tf, x, y)` as text."""
        self.lines = ["def program(tf, x, y):", "    a, b, c = x, y, x - y"]
        self.block(1, 3, False)
        self.lines.append("    return a, b, c")
        return "\n".join(self.lines) + "\n"

    def say(self, depth, line):
        self.lines.append("    " * depth + line)

    def value(self):
        one, other = self.draw.choice(NAMES), self.draw.choice([*NAMES, "x", "y", "1", "2", "3"])
        return self.draw.choice([
            f"{one} + {other}", f"{one} - {other}", f"{one} * 2 - {other}", f"{one} // 2", f"-{one}", f"abs({one})",
            f"{one} % 7", f"({one} if {self.test(False)} else {other})", f"helper(tf, {one}, {other})"])

    def test(self, deep=True):
        plain = f"{self.draw.choice([*NAMES, 'x', 'y'])} {self.draw.choice(['<', '>', '<=', '>=', '==', '!='])} " \
                f"{self.draw.choice([*NAMES, '0', '3'])}"
        if not deep or self.draw.random() < 0.6:
            return plain
        return self.draw.choice([f"not ({plain})", f"({plain}) and ({self.test(False)})",
                                 f"({plain}) or ({self.test(False)})", f"-5 < {self.draw.choice(NAMES)} < 20"])

    def block(self, depth, size, in_loop):
        for _ in range(self.draw.randint(1, size)):
            self.statement(depth, in_loop)

    def statement(self, depth, in_loop):
        kind = self.draw.random()
        if depth > 4 or kind < 0.45:
            name = self.draw.choice(NAMES)
            self.say(depth, f"{name} = ({self.value()}) % 100" if self.draw.random() < 0.7
                     else f"{name} += {self.draw.randint(1, 5)}")
        elif kind < 0.7:
            self.branch(depth, in_loop)
        elif kind < 0.85:
            self.loop(depth)
        elif in_loop:
            self.say(depth, f"if {self.test()}: {self.draw.choice(['break', 'continue', 'break'])}")
        elif depth == 1:
            self.say(depth, f"if {self.test()}: return a * 2, b, c - a")
        else:
            self.say(depth, f"a, b = b, a + {self.draw.randint(0, 3)}")

    def branch(self, depth, in_loop):
        self.say(depth, f"if {self.test()}:")
        self.block(depth + 1, 2, in_loop)
        if self.draw.random() < 0.3:
            self.say(depth, f"elif {self.test()}:")
            self.block(depth + 1, 2, in_loop)
        if self.draw.random() < 0.6:
            self.say(depth, "else:")
            self.block(depth + 1, 2, in_loop)

    def loop(self, depth):
        self.counters += 1
        count = f"n{self.counters}"
        form = self.draw.random()
        if form < 0.4:
            self.say(depth, f"for {count} in tf.range(abs({self.draw.choice(NAMES)}) % 6):")
            self.say(depth + 1, f"{self.draw.choice(NAMES)} += {count}")
        elif form < 0.6:
            self.say(depth, f"for {count} in tf.stack([a, b, c]):")
            self.say(depth + 1, f"{self.draw.choice(NAMES)} += {count} % 5")
        else:
            self.say(depth, f"{count} = x - x")
            self.say(depth, f"while {count} < 6 and ({self.test(False)}):")
            self.say(depth + 1, f"{count} += 1")
        self.block(depth + 1, 3, True)


HELPER = """
def helper(tf, u, v):
    if u > v:
        return u - v
    while v > 10:
        v = v // 2
    return v
"""


def compiled(text):
    """Return the program of a text whose source may be read."""
    place = f"<program {abs(hash(text))}>"
    text += HELPER
    linecache.cache[place] = (len(text), None, text.splitlines(True), place)
    names = {}
    exec(compile(text, place, "exec"), names)
    return names["program"]


def outcome(call):
    """Return the numbers that a call gives, or its error."""
    try:
        return [int(numpy.asarray(item)) for item in call()]
    except Exception as error:
        return error


def compare(text, tf, genuine=None):
    """Return how a program differs as a graph, and why it is none; each None if it does not.

    Parameters
    ----------
    text : str
        The program.
    tf : module
        Dragon's TensorFlow.
    genuine : module, optional
        The genuine one.

    """
    program = compiled(text)
    mine = tf.function(lambda x, y: program(tf, x, y))
    theirs = genuine and genuine.function(lambda x, y: program(genuine, x, y))
    for x, y in INPUTS:
        found = outcome(lambda: mine(tf.constant(x), tf.constant(y)))
        plain = outcome(lambda: program(tf, tf.constant(x), tf.constant(y)))
        if theirs is not None:
            wanted = outcome(lambda: theirs(genuine.constant(x), genuine.constant(y)))
            if type(found) is not type(wanted) and not isinstance(wanted, Exception) or (
                    isinstance(wanted, list) and found != wanted):
                return f"x={x}, y={y}: got {found!r}, genuine TensorFlow {wanted!r}", mine.fallback
            if isinstance(wanted, Exception):
                continue
        if found != plain:
            return f"x={x}, y={y}: got {found!r}, plain Python {plain!r}", mine.fallback
    if mine.fallback is None and mine.experimental_get_tracing_count() != 1:
        return f"got {mine.experimental_get_tracing_count()} traces, expected one", None
    return None, mine.fallback


def main():
    """Run programs and say how many differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--genuine", action="store_true")
    parser.add_argument("--tensors", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    from dragon.vm import tensorflow as tf
    genuine = None
    if options.genuine or options.tensors:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import tensorflow as genuine
    reasons, wrong = collections.Counter(), 0
    for seed in range(options.first, options.first + options.count):
        if options.tensors:
            from fuzz import autograph_tensors
            grower = autograph_tensors.TensorGrower(seed)
            text = grower.text()
            difference, reason = autograph_tensors.compare(text, grower.is_open, tf, genuine)
        else:
            text = Grower(seed).text()
            difference, reason = compare(text, tf, genuine)
        reasons[reason and reason.split(" at ")[0]] += 1
        if difference:
            wrong += 1
            print(f"program {seed}: {difference}\n{text}")
    print(f"{options.count} programs, {wrong} differ; {reasons.pop(None, 0)} are one graph")
    for reason, count in reasons.most_common():
        print(f"{count:6d} are not: {reason}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
