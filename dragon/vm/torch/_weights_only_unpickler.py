"""A machine for pickles that calls nothing but what a list names: PyTorch's files are read with it, and no other."""
import codecs
import collections
import pickle
import struct
from pickle import UnpicklingError

from dragon.vm.torch.core.files.trusted import Refused, Trust, guest_module

_MARK = object()
_ADVICE = ("; whoever trusts the file and the name may allow it with torch.serialization.add_safe_globals([...]) or "
           "the context torch.serialization.safe_globals([...])")


class Unpickler:
    """Read one pickle.

    Parameters
    ----------
    file : BinaryIO
        Where from; nothing is read beyond the pickle's end.
    encoding : str, optional, default="bytes"
        How strings of Python 2 are read; "bytes" leaves them as they are.
    trust : Trust, optional
        Which globals are allowed; only those for weights unless given.

    """

    def __init__(self, file, *, encoding="bytes", errors="strict", trust=None):
        self.read, self.readline = file.read, file.readline
        self.encoding, self.errors = encoding, errors
        self.trust = Trust(True) if trust is None else trust
        self.stack, self.marks, self.memo, self.proto = [], [], {}, 0

    def persistent_load(self, key):
        """Return what an id from outside of the pickle stands for."""
        raise UnpicklingError("load: got a persistent id, expected none here")

    def load(self):
        """Return the object."""
        steps = _STEPS
        try:
            while True:
                code = self.read(1)
                if code == b".":
                    return self.stack.pop()
                step = steps.get(code)
                if step is None:
                    raise UnpicklingError(f"load: got the opcode {code!r}, expected one of those that PyTorch's files "
                                          "have" if code else "load: got the end of the file within a pickle")
                step(self)
        except Refused as error:
            raise UnpicklingError(self.explain_refusal(str(error))) from None
        except (UnpicklingError, MemoryError, NotImplementedError):
            raise
        except (TypeError, ValueError, LookupError, AttributeError, EOFError, ArithmeticError, struct.error,
                RecursionError, AssertionError) as error:
            raise UnpicklingError(f"load: got a pickle that makes no sense ({type(error).__name__}: {error}), expected "
                                  "what torch.save wrote") from error

    def explain_refusal(self, name):
        """Return what to say of a global that is not allowed."""
        if self.trust.weights_only:
            return (f"Weights only load failed: got the global {name}, which is not an allowed global by default, "
                    f"expected tensors, numbers, texts and containers of them{_ADVICE}. weights_only=False allows "
                    "classes that this program has imported")
        return (f"load: got the global {name}, expected classes of torch, of __main__ or of imported modules outside "
                f"the standard library, and no calls of them: Dragon runs no code that a file asks for{_ADVICE}")

    def exactly(self, count):
        """Return so many bytes."""
        data = self.read(count)
        if len(data) != count:
            raise UnpicklingError(f"load: got {len(data)} bytes, expected {count}: the file is cut off or damaged")
        return data

    def unpack(self, form):
        """Return a number in one of struct's forms."""
        return struct.unpack(form, self.exactly(struct.calcsize(form)))[0]

    def line(self):
        """Return the text up to the line's end."""
        data = self.readline()
        if data[-1:] != b"\n":
            raise UnpicklingError("load: got the end of the file within a line")
        return data[:-1].decode("utf-8")

    def since_mark(self):
        """Return and drop what was pushed since the last mark."""
        start = self.marks.pop()
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def push(self, value):
        """Push a value."""
        self.stack.append(value)

    def decode(self, data):
        """Return a string of Python 2."""
        return data if self.encoding == "bytes" else data.decode(self.encoding, self.errors)

    # --- what calls, makes or fills objects: the steps that a hostile file would use

    def call(self):
        """Call a function from the list."""
        arguments, function = self.stack.pop(), self.stack[-1]
        if not isinstance(arguments, tuple) or not self.trust.may_call(function):
            raise Refused(f"{describe(function)} (called)")
        if not self.trust.may_hand(function, arguments):
            raise Refused(f"{describe(arguments[0]) if arguments else None} (called)")
        self.stack[-1] = function(*arguments)

    def make(self, cls, arguments, named=None):
        """Make a bare instance."""
        if not isinstance(arguments, tuple) or not self.trust.may_make(cls):
            raise Refused(f"{describe(cls)} (made)")
        self.push(cls.__new__(cls, *arguments, **(named or {})))

    def make_plain(self):
        """Make an instance from a class and arguments."""
        arguments, cls = self.stack.pop(), self.stack.pop()
        self.make(cls, arguments)

    def make_named(self):
        """Make an instance from a class, arguments and named arguments."""
        named, arguments, cls = self.stack.pop(), self.stack.pop(), self.stack.pop()
        self.make(cls, arguments, named)

    def fill(self):
        """Give the object on top its state."""
        state, instance = self.stack.pop(), self.stack[-1]
        if not self.trust.may_fill(instance):
            raise Refused(f"{describe(type(instance))} (given attributes)")
        if hasattr(type(instance), "__setstate__") and not isinstance(instance, collections.OrderedDict):
            instance.__setstate__(state)
            return
        slots = None
        if isinstance(state, tuple) and len(state) == 2:
            state, slots = state
        if state and not all(isinstance(name, str) for name in state):
            raise UnpicklingError("load: got attributes whose names are no texts")
        if state:
            instance.__dict__.update(state)
        for name, value in (slots or {}).items():
            setattr(instance, name, value)

    def find(self, module, name):
        """Push a global."""
        self.push(self.trust.find(module, name))

    def extend(self, items):
        """Append to the list on top."""
        target = self.stack[-1]
        if not isinstance(target, (list, collections.deque)):
            raise UnpicklingError(f"load: got items for a {type(target).__name__}, expected a list")
        target.extend(items)

    def set_items(self, items):
        """Put keys and values into the dict on top."""
        target = self.stack[-1]
        if not isinstance(target, dict) or len(items) % 2:
            raise UnpicklingError(f"load: got items for a {type(target).__name__}, expected a dict and pairs")
        for key, value in zip(items[::2], items[1::2]):
            target[key] = value

    def add_items(self, items):
        """Add to the set on top."""
        target = self.stack[-1]
        if not isinstance(target, set):
            raise UnpicklingError(f"load: got items for a {type(target).__name__}, expected a set")
        target.update(items)

    def take_tuple(self, count):
        """Push the last few as a tuple."""
        if len(self.stack) < count:
            raise UnpicklingError("load: got too few items for a tuple")
        items = tuple(self.stack[-count:])
        del self.stack[-count:]
        self.push(items)

    def remember(self, place):
        """Keep the object on top under a number."""
        self.memo[place] = self.stack[-1]

    def begin(self):
        """Read the protocol."""
        self.proto = self.unpack("<B")
        if self.proto > pickle.HIGHEST_PROTOCOL:
            raise UnpicklingError(f"load: got a pickle of protocol {self.proto}, expected at most "
                                  f"{pickle.HIGHEST_PROTOCOL}")

    def find_on_stack(self):
        """Push the global whose module and name are on the stack."""
        name, module = self.stack.pop(), self.stack.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise UnpicklingError("load: got a global whose name is no text")
        self.find(module, name)


def describe(value):
    """Return a global's name as files have it."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return f"{guest_module(getattr(value, '__module__', '') or '')}.{name}" if name else repr(type(value).__name__)


def read_integer(text):
    """Return a number of protocol 0; truth values are written as 00 and 01."""
    return {"00": False, "01": True}[text] if text in ("00", "01") else int(text)


def unquote(text):
    """Return a quoted string of protocol 0 as bytes."""
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"":
        raise UnpicklingError("load: got a text without quotes")
    return codecs.escape_decode(text[1:-1].encode("ascii"))[0]


_STEPS = {
    pickle.PROTO: Unpickler.begin,
    pickle.FRAME: lambda self: self.exactly(8),
    pickle.MARK: lambda self: self.marks.append(len(self.stack)),
    pickle.POP: lambda self: self.stack.pop(),
    pickle.POP_MARK: lambda self: self.since_mark(),
    pickle.DUP: lambda self: self.push(self.stack[-1]),
    pickle.NONE: lambda self: self.push(None),
    pickle.NEWTRUE: lambda self: self.push(True),
    pickle.NEWFALSE: lambda self: self.push(False),
    pickle.INT: lambda self: self.push(read_integer(self.line())),
    pickle.LONG: lambda self: self.push(int(self.line().rstrip("L"))),
    pickle.FLOAT: lambda self: self.push(float(self.line())),
    pickle.BININT: lambda self: self.push(self.unpack("<i")),
    pickle.BININT1: lambda self: self.push(self.unpack("<B")),
    pickle.BININT2: lambda self: self.push(self.unpack("<H")),
    pickle.LONG1: lambda self: self.push(pickle.decode_long(self.exactly(self.unpack("<B")))),
    pickle.LONG4: lambda self: self.push(pickle.decode_long(self.exactly(self.unpack("<i")))),
    pickle.BINFLOAT: lambda self: self.push(self.unpack(">d")),
    pickle.STRING: lambda self: self.push(self.decode(unquote(self.line()))),
    pickle.BINSTRING: lambda self: self.push(self.decode(self.exactly(self.unpack("<i")))),
    pickle.SHORT_BINSTRING: lambda self: self.push(self.decode(self.exactly(self.unpack("<B")))),
    pickle.UNICODE: lambda self: self.push(self.line().encode("latin1").decode("raw-unicode-escape")),
    pickle.BINUNICODE: lambda self: self.push(self.exactly(self.unpack("<I")).decode("utf-8", "surrogatepass")),
    pickle.SHORT_BINUNICODE: lambda self: self.push(self.exactly(self.unpack("<B")).decode("utf-8", "surrogatepass")),
    pickle.BINUNICODE8: lambda self: self.push(self.exactly(self.unpack("<Q")).decode("utf-8", "surrogatepass")),
    pickle.BINBYTES: lambda self: self.push(self.exactly(self.unpack("<I"))),
    pickle.SHORT_BINBYTES: lambda self: self.push(self.exactly(self.unpack("<B"))),
    pickle.BINBYTES8: lambda self: self.push(self.exactly(self.unpack("<Q"))),
    pickle.BYTEARRAY8: lambda self: self.push(bytearray(self.exactly(self.unpack("<Q")))),
    pickle.EMPTY_TUPLE: lambda self: self.push(()),
    pickle.TUPLE1: lambda self: self.take_tuple(1),
    pickle.TUPLE2: lambda self: self.take_tuple(2),
    pickle.TUPLE3: lambda self: self.take_tuple(3),
    pickle.TUPLE: lambda self: self.push(tuple(self.since_mark())),
    pickle.EMPTY_LIST: lambda self: self.push([]),
    pickle.LIST: lambda self: self.push(self.since_mark()),
    pickle.EMPTY_DICT: lambda self: self.push({}),
    pickle.DICT: lambda self: (lambda items: (self.push({}), self.set_items(items)))(self.since_mark()),
    pickle.EMPTY_SET: lambda self: self.push(set()),
    pickle.FROZENSET: lambda self: self.push(frozenset(self.since_mark())),
    pickle.APPEND: lambda self: self.extend([self.stack.pop()]),
    pickle.APPENDS: lambda self: self.extend(self.since_mark()),
    pickle.SETITEM: lambda self: (lambda value, key: self.set_items([key, value]))(self.stack.pop(), self.stack.pop()),
    pickle.SETITEMS: lambda self: self.set_items(self.since_mark()),
    pickle.ADDITEMS: lambda self: self.add_items(self.since_mark()),
    pickle.GET: lambda self: self.push(self.memo[int(self.line())]),
    pickle.BINGET: lambda self: self.push(self.memo[self.unpack("<B")]),
    pickle.LONG_BINGET: lambda self: self.push(self.memo[self.unpack("<I")]),
    pickle.PUT: lambda self: self.remember(int(self.line())),
    pickle.BINPUT: lambda self: self.remember(self.unpack("<B")),
    pickle.LONG_BINPUT: lambda self: self.remember(self.unpack("<I")),
    pickle.MEMOIZE: lambda self: self.remember(len(self.memo)),
    pickle.PERSID: lambda self: self.push(self.persistent_load(self.line())),
    pickle.BINPERSID: lambda self: self.push(self.persistent_load(self.stack.pop())),
    pickle.GLOBAL: lambda self: self.find(self.line(), self.line()),
    pickle.STACK_GLOBAL: Unpickler.find_on_stack,
    pickle.REDUCE: Unpickler.call,
    pickle.NEWOBJ: Unpickler.make_plain,
    pickle.NEWOBJ_EX: Unpickler.make_named,
    pickle.BUILD: Unpickler.fill,
}


def load(file, *, encoding="ASCII"):
    """Return the object in a pickle that names only what weights need."""
    return Unpickler(file, encoding=encoding).load()
