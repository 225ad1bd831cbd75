"""A machine for pickles that calls nothing but what a list names: PyTorch's files are read with it, and no other."""
import codecs
import collections
import enum
import functools
import pickle
import struct
import types
from pickle import UnpicklingError

from dragon.vm.torch.core.files import plain
from dragon.vm.torch.core.files.trusted import Refused, Trust, describe

PIECE = 1 << 24  # bytes read at once
# How many parts of keys are looked at in all, and how many parts an object has for whoever walks through it.
MOST_HASHED, MOST_WRITTEN = 10**8, 10**9
OF_TYPES = 1000  # how many parts one of a type's counts for, whose hash is Python code
HASHING = set, frozenset, dict, enum.Enum
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
        self.stack, self.marks, self.memo, self.proto, self.hashed = [], [], {}, 0, 0

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
                    return self.check_end(self.stack.pop())
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
        data = self.read(min(count, PIECE)) if count >= 0 else b""
        if count > PIECE:
            # A count that lies takes no more memory than the file has bytes.
            pieces = [data]
            while len(pieces[-1]) and count > len(pieces) * PIECE:
                pieces.append(self.read(min(PIECE, count - len(pieces) * PIECE)))
            data = b"".join(pieces)
        if len(data) != count:
            raise UnpicklingError(f"load: got {len(data)} bytes, expected {count}: the file is cut off or damaged")
        return data

    def check_end(self, value):
        """Return what was read, unless it would have no end for whoever walks through it."""
        if plain.count_parts(value, MOST_WRITTEN, plain.written_parts) > MOST_WRITTEN:
            raise UnpicklingError("load: got lists within lists without an end, expected what torch.save wrote")
        return value

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
        maker = self.trust.maker_of(function, arguments)
        if isinstance(function, type) and issubclass(function, HASHING):
            self.count_hashed(arguments)
        elif maker in plain.STAND_INS.values():
            self.count_hashed(arguments, OF_TYPES)
        self.stack[-1] = maker(*arguments)

    def make(self, cls, arguments, named=None):
        """Make a bare instance."""
        self.push(self.trust.make(cls, arguments, named or {}))

    def make_plain(self):
        """Make an instance from a class and arguments."""
        arguments, cls = self.stack.pop(), self.stack.pop()
        self.make(cls, arguments)

    def make_named(self):
        """Make an instance from a class, arguments and named arguments."""
        named, arguments, cls = self.stack.pop(), self.stack.pop(), self.stack.pop()
        if type(named) is not dict:
            raise UnpicklingError("load: got named arguments that are no dict")
        self.make(cls, arguments, named)

    def fill(self):
        """Give the object on top its state."""
        state, instance = self.stack.pop(), self.stack[-1]
        whole = plain.fill_numpy(instance, state)
        if whole is not None:
            self.exchange(instance, whole)
            return
        if not self.trust.may_fill(instance):
            raise Refused(f"{describe(type(instance))} (given attributes)")
        kind = type(instance)
        inner, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
        for part in (inner, slots):
            if type(part) in (dict, collections.OrderedDict):
                self.trust.check_state(instance, dict.keys(part), dict.values(part))
        if kind is functools.partial:
            fill_partial(self.trust, instance, state)
        elif hasattr(kind, "__setstate__") and kind is not collections.OrderedDict:
            # The class's, whatever attributes the instance has; it may look at the state.
            self.trust.check_plain(kind.__setstate__, (state,))
            check_optimizer(instance, state)
            kind.__setstate__(instance, state)
        else:
            set_attributes(instance, inner, slots)

    def exchange(self, old, new):
        """Put an object in the place of another that was only its beginning."""
        self.stack[-1] = new
        for place, value in self.memo.items():
            if value is old:
                self.memo[place] = new

    def count_hashed(self, values, weight=1):
        """Raise if hashing values would look at more parts than the file can honestly have."""
        for value in values:
            parts = (*dict.keys(value), *dict.values(value)) if isinstance(value, dict) else value
            if type(parts) not in (list, tuple, set, frozenset):
                parts = (value,)
            for part in parts:
                self.hashed += weight * plain.count_parts(part, MOST_HASHED, plain.hashed_parts)
                if self.hashed > MOST_HASHED:
                    raise UnpicklingError("load: got keys whose parts have no end, expected what torch.save wrote")

    def find(self, module, name):
        """Push a global."""
        self.push(self.trust.find(module, name))

    def extend(self, items):
        """Append to the list on top."""
        target = self.stack[-1]
        if not isinstance(target, (list, collections.deque)):
            raise UnpicklingError(f"load: got items for a {type(target).__name__}, expected a list")
        type(target).extend(target, items)

    def set_items(self, items):
        """Put keys and values into the dict on top."""
        target = self.stack[-1]
        if not isinstance(target, dict) or len(items) % 2:
            raise UnpicklingError(f"load: got items for a {type(target).__name__}, expected a dict and pairs")
        self.count_hashed([key for key in items[::2] if type(key) not in (str, int)])
        for key, value in zip(items[::2], items[1::2]):
            target[key] = value

    def add_items(self, items):
        """Add to the set on top."""
        target = self.stack[-1]
        if not isinstance(target, set):
            raise UnpicklingError(f"load: got items for a {type(target).__name__}, expected a set")
        self.count_hashed(items)
        set.update(target, items)

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


def fill_partial(trust, instance, state):
    """Give a function with arguments its own, if a file may name it."""
    if not isinstance(state, tuple) or len(state) != 4 or type(state[1]) is not tuple or type(state[2]) not in (
            dict, type(None)) or type(state[3]) not in (dict, type(None)):
        raise UnpicklingError("load: got a functools.partial that makes no sense")
    trust.check_partial(state[:1], state[1])
    instance.__setstate__((*state[:3], None))


def check_optimizer(instance, state):
    """Raise unless an optimizer's state holds plain dicts and lists, whose methods it calls."""
    from dragon.vm.torch.optim.optimizer import Optimizer
    if not isinstance(instance, Optimizer):
        return
    plain_dicts = dict, collections.OrderedDict, collections.defaultdict
    groups, kept = state.get("param_groups", []), state.get("state", {})
    if type(groups) is not list or type(kept) not in plain_dicts or not all(
            type(part) in plain_dicts for part in (*groups, *dict.values(kept), state.get("defaults", {}))):
        raise UnpicklingError("load: got an optimizer whose state is no dict of dicts")


def set_attributes(instance, state, slots):
    """Give an object attributes: those of its dict, and its slots, without any code of its class."""
    for part in (state, slots):
        if part is not None and type(part) not in (dict, collections.OrderedDict):
            raise UnpicklingError(f"load: got attributes in a {type(part).__name__}, expected a dict")
    if state:
        instance.__dict__.update(dict.items(state))
    for name, value in dict.items(slots or {}):
        slot = getattr(type(instance), name, None)
        if not isinstance(slot, types.MemberDescriptorType):
            raise UnpicklingError("load: got a value for a slot that is none")
        slot.__set__(instance, value)


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
    pickle.FROZENSET: lambda self: (lambda items: (self.count_hashed(items), self.push(frozenset(items))))(
        self.since_mark()),
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
    pickle.REDUCE: lambda self: self.call(),
    pickle.NEWOBJ: Unpickler.make_plain,
    pickle.NEWOBJ_EX: Unpickler.make_named,
    pickle.BUILD: lambda self: self.fill(),
}


def load(file, *, encoding="ASCII"):
    """Return the object in a pickle that names only what weights need."""
    return Unpickler(file, encoding=encoding).load()
