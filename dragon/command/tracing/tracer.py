"""The tracer that runs beside a program, in its process: lines of its own files, and what each left in its names."""
import marshal
import os
import struct
import sys
import time

from dragon.command.tracing import digest, source


class Enough(BaseException):
    """As many lines as were asked for have been looked at: ends the program."""


SOON, THINNED = 200, 90  # every time a line runs is looked at until then; later so many times for each tenfold
MOST_WATCHES = 10000
GENERATOR = 0x20 | 0x80 | 0x200  # flags of code whose frames come back: generators, coroutines, both
QUIET = (StopIteration, StopAsyncIteration, GeneratorExit, Enough)  # how iterators end; not all of them say so
SKIPPED_CODE = frozenset(("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>"))
SKIPPED_NAMES = frozenset(("__repr__", "__str__", "__format__", "__hash__", "__eq__", "__del__", "__getattr__"))


def kinds_of(error):
    """Return the names of an exception's class and of those that it stands on, but for what all stand on.

    Dragon raises classes of its own, which are what the genuine framework raises as well.
    """
    return [kind.__name__ for kind in error.__mro__ if kind not in (object, BaseException, Exception)]


class Watch:
    """A frame that is watched: the line it is at, and the marks of what its names hold."""

    __slots__ = ("code", "line", "marks", "stale")

    def __init__(self, code):
        self.code, self.line, self.marks, self.stale = code, None, {}, False


class Tracer:
    """Write down what a program does.

    Parameters
    ----------
    file : BinaryIO
        Where events go: a length of four bytes, then a marshalled tuple.
    folder : str
        The program's folder; files below it are its own.
    limit : int
        After how many lines the program is ended; 0 for never.
    thorough : bool
        Look at every line each time it runs, however often.
    seed : Callable[[], None]
        Called before lines, to seed what has been imported.

    """

    def __init__(self, file, folder, limit, thorough, seed):
        self.file, self.folder, self.limit, self.thorough, self.seed = file, folder, limit, thorough, seed
        self.known, self.counts, self.watches = {}, {}, {}
        self.lines, self.spent, self.over = 0, 0.0, False

    # --- what is the program's own

    def is_own(self, path):
        """Return whether a file belongs to the program."""
        found = self.known.get(path)
        if found is None:
            whole = os.path.realpath(path) if not path.startswith("<") else ""
            found = self.known[path] = (
                whole.startswith(self.folder + os.sep) and "site-packages" not in whole
                and "dist-packages" not in whole and not whole.startswith((PACKAGE, PREFIX, LIBRARY)))
        return found

    def is_own_class(self, kind):
        """Return whether a class was written in the program."""
        module = sys.modules.get(kind.__module__)
        path = getattr(module, "__file__", None)
        return path is not None and self.is_own(path)

    # --- events

    def write(self, *event):
        """Write an event."""
        data = marshal.dumps(event, 4)
        self.file.write(struct.pack("<I", len(data)) + data)

    def on_call(self, frame, event, argument):
        """Decide about a frame that begins; what `sys.settrace` gets."""
        code = frame.f_code
        if self.over or not self.is_own(code.co_filename) or code.co_name in SKIPPED_CODE or (
                code.co_name in SKIPPED_NAMES):
            return None
        start = time.perf_counter()
        watch = self.watches.get(id(frame))
        if watch is None or watch.code is not code or not code.co_flags & GENERATOR:
            watch = self.watches[id(frame)] = Watch(code)
        back = frame.f_back
        direct = back is not None and (self.is_own(back.f_code.co_filename) or code.co_name == "<module>")
        self.write("call", code.co_filename, getattr(code, "co_qualname", code.co_name), code.co_firstlineno, direct)
        watch.stale = watch.line is not None  # a generator that goes on
        if not watch.stale:
            self.look(frame, watch, code.co_firstlineno)
        self.spent += time.perf_counter() - start
        return self.on_event

    def on_event(self, frame, event, argument):
        """Note a line, a return or an exception of a watched frame."""
        if self.over:
            return None
        start = time.perf_counter()
        watch = self.watches.get(id(frame))
        if watch is not None and event == "line":
            self.on_line(frame, watch)
        elif event == "exception" and argument[0] not in QUIET:
            self.write("raise", argument[0].__name__, str(argument[1])[:2000], frame.f_code.co_filename, frame.f_lineno,
                       kinds_of(argument[0]))
        elif watch is not None and event == "return":
            self.settle(frame, watch)
            self.write("return")
            if not frame.f_code.co_flags & GENERATOR:
                del self.watches[id(frame)]
            elif len(self.watches) > MOST_WATCHES:  # of generators that ended long ago
                del self.watches[next(iter(self.watches))]
        self.spent += time.perf_counter() - start
        if self.limit and self.lines >= self.limit:
            self.over = True
            raise Enough
        return self.on_event

    def on_line(self, frame, watch):
        """Note that a line is done and another begins."""
        text = source.read(frame.f_code.co_filename)
        first = text.first_line(frame.f_lineno)
        if first == watch.line and frame.f_lineno != first:
            return  # further lines of the statement that runs
        self.settle(frame, watch)
        self.seed()
        watch.line = first

    def settle(self, frame, watch):
        """Look at what the line that is done has left, if its turn has come."""
        if watch.line is None:
            return
        key = frame.f_code, watch.line
        count = self.counts[key] = self.counts.get(key, 0) + 1
        if self.is_due(count):
            if watch.stale:
                # What lines that were not looked at have changed is not this one's doing.
                self.remember(frame, watch)
                watch.stale = False
            self.look(frame, watch, watch.line)
        else:
            watch.stale = True

    def is_due(self, count):
        """Return whether a line is looked at when it runs for the nth time."""
        if count <= SOON or self.thorough:
            return True
        return count % (10 ** len(str(count)) // (THINNED + 10)) == 0

    def look(self, frame, watch, line):
        """Write the line with digests of what changed."""
        self.lines += 1
        changed = []
        for path, leaf, seen in self.list_leaves(frame):
            if watch.marks.get(path) != seen:
                watch.marks[path] = seen
                changed.append((path, digest.digest(leaf)))
        self.write("line", frame.f_code.co_filename, line, changed)

    def remember(self, frame, watch):
        """Take what names hold for known."""
        watch.marks = {path: seen for path, _, seen in self.list_leaves(frame)}

    def list_leaves(self, frame):
        """Yield (path, leaf, mark) of what a frame's names hold."""
        fleeting = source.read(frame.f_code.co_filename).fleeting
        shared = {}
        inside = frame.f_code.co_varnames[:1] == ("self",) and frame.f_code.co_name != "__init__"
        for name, value in list(frame.f_locals.items()):
            if name.startswith("__") or name in fleeting:
                continue
            # What a module's own methods see of it changes outside of them: whoever holds the whole looks at it.
            state = not (inside and name == "self")
            for path, leaf in digest.leaves(value, name, self.is_own_class, state):
                if path.rpartition(".")[2] in fleeting:
                    continue
                seen = shared.get(id(leaf))
                if seen is None:
                    seen = shared[id(leaf)] = digest.mark(leaf)
                yield path, leaf, seen


PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))) + os.sep
PREFIX = os.path.realpath(sys.prefix) + os.sep
LIBRARY = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
