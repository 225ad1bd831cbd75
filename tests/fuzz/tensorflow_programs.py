"""Random right programs of TensorFlow's functions, as text: grown of the rows of `tensorflow_rows.py` by genuine ones.

A slot names a shape, and dtypes behind a colon where they are not the statement's; `any` is of any rank, `1` and `2` of
at least so many axes, with `nz` no axis is empty. What follows the first tensor may be like it, broadcast to it, or
fit it as a factor, a row, or indices.
"""
import random
import re

import numpy

import tensorflow_rows

SHAPES = ((), (1,), (3,), (4,), (2, 3), (3, 3), (1, 3), (2, 1), (2, 3, 4), (0,), (0, 3), (3, 0), (1, 1), (2, 1, 3),
          (6,))
FIXED = {"vec": (4,), "vec2": (3,), "vec6": (6,), "two": (2,), "one": (1,), "scalar": (), "img": (2, 4, 5, 3),
         "img4": (1, 4, 6, 4), "img11": (1, 11, 12, 2), "rgb": (2, 3, 3), "gray": (2, 3, 1), "vol": (1, 3, 4, 3, 2),
         "seq": (2, 6, 3), "even": (4, 2), "long": (2, 32), "tri": (2, 3), "trisq": (3, 3), "ker": (2, 3, 3, 2),
         "kert": (2, 2, 2, 3), "ker1": (2, 3, 2), "ker3": (2, 2, 1, 2, 3), "kerd": (2, 2, 3), "kerp": (1, 1, 6, 2),
         "ctc": (5, 1, 4), "boxes": (5, 4), "scores": (5,), "rhs2": (4, 2), "img01": (1, 4, 5, 3), "2s": (3, 4),
         "colors": (2, 3, 3),
         "2g": (3, 2), "sprhs": (4, 2), "sprhs2": (3, 2), "num": (3,)}
WORDS = ("", "a", "ab", "abc 1", "Ä x", "12", " b ", "a,b", "\u20ac")
EXTREMES = (float("nan"), float("inf"), float("-inf"), -1e30, 1e30, -0.0, 0.0, 1.0, -1.0, 1e4, -1e4, 0.5, 2.0)
SLOT = re.compile(r"\{([^{}]*)\}")
MOST = 400  # elements of a tensor that is used again
MODERATE = 1e4
REJECTED = Exception  # whatever genuine TensorFlow raises


def numbers(pick, shape, dtype, extreme, word=""):
    """Return drawn numbers of a dtype, as NumPy holds them."""
    rng = numpy.random.default_rng(pick.getrandbits(32))
    if dtype == "string":
        words = [w for w in WORDS if w.strip().isdigit()] + ["-3", "7"] if word == "num" else WORDS
        return numpy.array([pick.choice(words).encode() for _ in range(int(numpy.prod(shape)))], object).reshape(shape)
    if dtype == "bool":
        return rng.integers(0, 2, shape) > 0
    base = "float32" if dtype == "bfloat16" else dtype
    if numpy.dtype(base).kind in "iu":
        info = numpy.iinfo(base)
        found = numpy.asarray(rng.integers(max(-3, info.min), 6, shape)).astype(base)
        if extreme and word not in ("small", "shift"):
            at = rng.random(shape) < 0.4
            found = numpy.where(at, rng.choice([info.max, info.min, info.max - 1, 0], shape), found).astype(base)
        return numpy.asarray(found)
    low, high = (0.3, 2.0) if word[:3] == "pos" else (-2, 2)
    low, high = (0.05, 0.95) if word in ("unit", "unitlike", "img01", "colors") else (low, high)
    found = rng.uniform(low, high, shape)
    if word == "sp":
        found = numpy.where(rng.random(shape) < 0.5, 0, found)
    if numpy.dtype(base).kind == "c":
        found = found + 1j * rng.uniform(-2, 2, shape)
    elif extreme:
        with numpy.errstate(all="ignore"):
            found = numpy.where(rng.random(shape) < 0.4, rng.choice(EXTREMES, shape), found)
    with numpy.errstate(all="ignore"):
        return numpy.asarray(found).astype(base)


class Grower:
    """One random program.

    Parameters
    ----------
    seed : int
        Which one; a third of them are one statement with numbers at the edges.
    tf : module
        The genuine TensorFlow, which says what is right.
    rows : list of (str, str)
        The templates.

    """

    def __init__(self, seed, tf, rows=None):
        self.tf, self.pick = tf, random.Random(seed)
        self.rows = rows or tensorflow_rows.templates()
        self.extreme = seed % 3 == 0
        self.inputs, self.lines, self.values, self.known = {}, [], {}, {}
        for _ in range(1 if self.extreme or seed % 3 == 1 else self.pick.randint(2, 8)):
            for _ in range(8):
                if self._grow(self.pick.choice(self.rows)):
                    break

    def program(self):
        """Return the program as plain values."""
        return {"inputs": [(name, dtype, array) for name, (dtype, array) in self.inputs.items()], "lines": self.lines,
                "extreme": self.extreme}

    def _grow(self, row):
        """Add a statement where genuine TensorFlow takes it; return whether it does."""
        letter, template = row
        self.new, self.known, self.main = {}, {}, None
        self.dtype = self.pick.choice(tensorflow_rows.DTYPES[letter].split())
        self.source = self._source(letter) if self.pick.random() < 0.7 else None
        try:
            text = SLOT.sub(lambda match: self._fill(match[1]), template.replace("{{", "\0").replace("}}", "\1"))
            text = text.replace("\0", "{").replace("\1", "}")
            space = {"tf": self.tf, **self.values, **{name: tensor(self.tf, *pair) for name, pair in self.new.items()}}
            value = eval(text, space)
        except REJECTED:
            return False
        name = f"y{len(self.lines)}"
        self.inputs.update(self.new)
        self.values.update({key: space[key] for key in self.new})
        self.lines.append(f"{name} = {text}")
        if isinstance(value, self.tf.Tensor) and self._is_moderate(value):
            self.values[name] = value
        else:
            self.values.pop(name, None)
        return True

    def _is_moderate(self, value):
        """Return whether a result may be used again."""
        if value.dtype.name not in tensorflow_rows.DTYPES["x"] + " bfloat16" or value.shape.num_elements() > MOST:
            return False
        if not value.dtype.is_floating:
            return not value.dtype.is_complex or bool(numpy.isfinite(value.numpy()).all())
        array = value.numpy().astype("float64")
        return bool((abs(array) < MODERATE).all())

    def _source(self, letter):
        """Return the name of a result that the statement may be about, whose dtype becomes the statement's."""
        names = [name for name, value in self.values.items() if name[0] == "y"
                 and value.dtype.name in tensorflow_rows.DTYPES[letter].split()]
        if not names:
            return None
        found = self.pick.choice(names[-3:])
        self.dtype = self.values[found].dtype.name
        return found

    def _fill(self, slot):
        """Return the text of one slot."""
        word, _, letters = slot.partition(":")
        pick = self.pick
        rank = len(self.main[1]) if self.main else 1
        texts = {"t": lambda: pick.choice(("True", "False")), "p": lambda: str(pick.randint(1, 2)),
                 "c": lambda: pick.choice(("0.5", "1.5", "2.0")), "k": lambda: str(pick.randrange(-rank, rank)),
                 "ks": lambda: self._axes(rank), "kl": lambda: str([pick.randrange(-rank, rank)]),
                 "k0": lambda: self._axes(rank), "same": lambda: f"tf.{self.main[0] if self.main else self.dtype}",
                 "rag": lambda: f"tf.RaggedTensor.from_row_lengths({self._input('vec6', letters)}, [2, 0, 3, 1])",
                 "tiles": lambda: str([pick.randint(0, 2) for _ in range(rank)]),
                 "pads": lambda: str([[pick.randint(0, 2), pick.randint(0, 1)] for _ in range(rank)]),
                 "wider": lambda: str([2, *(3 if size == 1 else size for size in self.main[1])]),
                 "shapeof": lambda: str([4, *self.main[1][1:]]),
                 "sp": lambda: f"tf.sparse.from_dense({self._input('sp', letters)})"}
        if slot.partition(":")[0] in texts:
            return texts[word]()
        if not letters.isalnum() and letters:  # a slice
            return pick.choice(slot.split("|"))
        if word in FIXED or word in RELATIVE or re.fullmatch(r"any|[12](nz)?|mat2?|sq|pd|nat|natv|pos1?|unit", word):
            return self._input(word, letters)
        return pick.choice(slot.split("|"))

    def _axes(self, rank):
        """Return an axis, a list of some, or None."""
        axes = [axis - rank * self.pick.randint(0, 1) for axis in range(rank)]
        chosen = self.pick.sample(axes, self.pick.randint(0, rank))
        return str(self.pick.choice((None, chosen, *(axes or [None]))))

    def _dtype_of(self, letters, relative):
        """Return the dtype of a slot."""
        if not letters:
            return self.main[0] if relative and self.main else self.dtype
        if letters not in tensorflow_rows.DTYPES:
            return letters
        if letters not in self.known:
            self.known[letters] = self.pick.choice(tensorflow_rows.DTYPES[letters].split())
        return self.known[letters]

    def _input(self, word, letters):
        """Return the name of a new input, or of a result that fits."""
        if self.main is None and self.source and not letters and self._fits(word, self.source):
            name, self.source = self.source, None
            self.main = (self.dtype, tuple(self.values[name].shape))
            return name
        name = f"x{len(self.inputs) + len(self.new)}"
        relative = word in RELATIVE or word == "scalar" or word in FIXED and self.main is not None
        dtype = self._dtype_of(letters, relative and word != "castn")
        if word in MADE:
            self.new[name] = dtype, MADE[word](self.pick, self.main and self.main[1]).astype(dtype)
        else:
            array = numbers(self.pick, self._shape(word), dtype, self.extreme, word)
            if word == "castnz":
                array = numpy.where(array == 0, 2, array).astype(array.dtype)
                array = numpy.where(array == -1, 3, array).astype(array.dtype) if array.dtype.kind == "i" else array
            if word in ("shift", "small"):
                array = abs(array) % 5 % (array.dtype.itemsize * 8)
            if word == "pd":
                array = array * numpy.asarray(0.2, array.dtype) + numpy.eye(array.shape[-1], dtype=array.dtype)
                array = (array + numpy.swapaxes(array, -1, -2).conj()) if self.pick.random() < 0.7 else array
            self.new[name] = dtype, array
        if self.main is None:
            self.main = dtype, self.new[name][1].shape
        return name

    def _fits(self, word, name):
        """Return whether a result has the shape that a slot asks for."""
        shape = tuple(self.values[name].shape)
        if word in ("any", "1", "2", "1nz", "2nz"):
            return len(shape) >= (int(word[0]) if word != "any" else 0) and ("nz" not in word or 0 not in shape)
        return {"mat": len(shape) == 2, "sq": len(shape) == 2 and shape[-1:] == shape[-2:-1], "vec": shape == (4,)
                }.get(word, False)

    def _shape(self, word):
        """Return a shape for a slot."""
        pick = self.pick
        if word in FIXED and word != "scalar":
            return FIXED[word]
        if word == "scalar":
            return ()
        if word == "sp":
            return (3, 4)
        if word in RELATIVE:
            return RELATIVE[word](pick, self.main[1] if self.main else ())
        if word in ("mat", "mat2"):
            return self.main[1] if self.main and word == "mat2" else pick.choice(
                ((3, 4), (2, 4), (3, 4), (2, 3, 4), (0, 4), (1, 4)))
        if word in ("sq", "pd"):
            return pick.choice(((3, 3), (2, 2), (2, 3, 3), (1, 1), (2, 2)))
        least = 1 if word in ("1", "1nz", "pos1") else 2 if word in ("2", "2nz") else 0
        return pick.choice([shape for shape in SHAPES if len(shape) >= least and not ("nz" in word and 0 in shape)])


def cast_shape(pick, shape):
    """Return a shape that broadcasts with another."""
    way = pick.random()
    if way < 0.4:
        return shape
    found = [1 if pick.random() < 0.3 else size for size in shape]
    return tuple(found[pick.randint(0, len(found)):] if way < 0.8 else [2, *found] if len(found) < 3 else found)


def rng_of(pick):
    """Return NumPy's generator of a seed drawn."""
    return numpy.random.default_rng(pick.getrandbits(32))


RELATIVE = {
    "like": lambda pick, shape: shape, "likef": lambda pick, shape: shape, "unitlike": lambda pick, shape: shape,
    "cast": cast_shape, "castn": cast_shape, "castnz": cast_shape, "shift": cast_shape, "small": lambda pick, shape: (),
    "rhs": lambda pick, shape: (*shape[:-2], shape[-1], pick.choice((1, 2))),
    "vecrhs": lambda pick, shape: (*shape[:-2], shape[-1]), "row": lambda pick, shape: shape[-1:],
    "posrow": lambda pick, shape: shape[-1:], "diag": lambda pick, shape: shape[:-1],
    "rowsof": lambda pick, shape: (2, *shape[1:]), "rows": None, "seg": None, "nd": None, "idx": None, "idx0": None,
    "idx1": None, "ndx": None, "firstmask": None, "lens": None}
# Numbers that mean places.
MADE = {
    "nat": lambda pick, shape: rng_of(pick).integers(0, 3, pick.choice(((), (3,), (0,), (2, 3)))),
    "natv": lambda pick, shape: rng_of(pick).integers(0, 6, pick.choice(((4,), (0,), (1,)))),
    "rows": lambda pick, shape: rng_of(pick).integers(0, 3, pick.choice(((2,), (3,)))),
    "seg": lambda pick, shape: numpy.sort(rng_of(pick).integers(0, 3, shape[:1])),
    "nd": lambda pick, shape: rng_of(pick).integers(0, max(shape[0], 1), (2, 1)),
    "idx": lambda pick, shape: rng_of(pick).integers(0, shape[0], pick.choice(((), (2,), (0,), (2, 2)))),
    "idx0": lambda pick, shape: rng_of(pick).integers(0, min(shape), pick.choice(((), (2,), (2, 2)))),
    "idx1": lambda pick, shape: rng_of(pick).integers(0, shape[1], (shape[0], 2)),
    "ndx": lambda pick, shape: rng_of(pick).integers(0, min(shape), (3, pick.randint(1, len(shape)))),
    "firstmask": lambda pick, shape: rng_of(pick).integers(0, 2, shape[:1]) > 0,
    "lens": lambda pick, shape: rng_of(pick).integers(0, shape[1] + 1, shape[:1])}


def tensor(tf, dtype, array):
    """Return a tensor of drawn numbers."""
    return tf.cast(tf.constant(array), "bfloat16") if dtype == "bfloat16" else tf.constant(array, dtype)


def function_of(program, tf):
    """Return a program as a function of its inputs."""
    names = [name for name, _, _ in program["inputs"]]
    results = ", ".join(line.partition(" = ")[0] for line in program["lines"])
    text = "\n    ".join([f"def program({', '.join(names)}):", *program["lines"], f"return [{results}]"])
    space = {"tf": tf}
    exec(compile(text, "<program>", "exec"), space)
    return space["program"]
