"""Models of random shape: Sequential, Functional and subclassed ones within each other, lists, dicts, shared layers."""
import numpy

WIDTH = 3


def make_classes(keras):
    """Return the classes of users' own layers and models, by name, for a module `keras`."""
    class Holder(keras.Model):
        """Runs what it holds one after the other; a list, a dict and lists of lists hold its parts."""

        def __init__(self, row, named, nested, **options):
            super().__init__(**options)
            self.row, self.named, self.nested = list(row), dict(named), [list(part) for part in nested]

        def parts(self):
            """Return all that it holds, in turn."""
            return [*self.row, *self.named.values(), *(part for parts in self.nested for part in parts)]

        def call(self, x):
            """Return what the parts make of x."""
            for part in self.parts():
                x = part(x)
            return x

        def build(self, shape):
            """Build the parts."""
            for part in self.parts():
                if not part.built:
                    part.build(shape)
            self.built = True

        def get_config(self):
            """Return the parts as data."""
            pack = keras.saving.serialize_keras_object
            return {**super().get_config(), "row": [pack(part) for part in self.row],
                    "named": {name: pack(part) for name, part in self.named.items()},
                    "nested": [[pack(part) for part in parts] for parts in self.nested]}

        @classmethod
        def from_config(cls, config):
            """Return a holder of the parts that data tells."""
            config = dict(config)
            unpack = keras.saving.deserialize_keras_object
            row, named, nested = (config.pop(name) for name in ("row", "named", "nested"))
            return cls([unpack(part) for part in row], {name: unpack(part) for name, part in named.items()},
                       [[unpack(part) for part in parts] for parts in nested], **config)
    return {"Holder": Holder}


class Trees:
    """Makes the same models for ours and for the genuine module.

    Parameters
    ----------
    keras : module
        Which.
    seed : int
        Of the shape.
    dtype : str, optional
        Of the layers.

    """

    def __init__(self, keras, seed, dtype="float32"):
        self.keras, self.chance, self.dtype = keras, numpy.random.default_rng(seed), dtype
        self.classes = make_classes(keras)

    def leaf(self):
        """Return a layer."""
        layers, options = self.keras.layers, {"dtype": self.dtype}
        kind = self.chance.integers(6)
        if kind == 0:
            return layers.BatchNormalization(**options)
        if kind == 1:
            return layers.LayerNormalization(**options)
        if kind == 2:
            return layers.Activation("tanh", **options)
        return layers.Dense(WIDTH, activation=None if kind == 3 else "tanh", use_bias=kind != 4, **options)

    def some(self, depth, most=3):
        """Return a few parts."""
        return [self.part(depth) for _ in range(self.chance.integers(1, most + 1))]

    def part(self, depth, kinds=4):
        """Return a layer or a model of at most this depth."""
        kind = self.chance.integers(kinds) if depth else 3
        if kind == 0:
            return self.keras.Sequential([self.keras.Input((WIDTH,), dtype=self.dtype), *self.some(depth - 1)])
        if kind == 1:
            return self.functional(depth - 1)
        if kind == 2:
            return self.classes["Holder"](self.some(depth - 1, 2), {"b": self.part(depth - 1), "a": self.part(0)},
                                          [self.some(depth - 1, 1), [self.part(0)]])
        return self.leaf()

    def functional(self, depth):
        """Return a functional model with two branches, which may share a layer."""
        x = self.keras.Input((WIDTH,), dtype=self.dtype)
        one, other = self.part(depth), self.part(depth)
        joined = self.keras.layers.Add(dtype=self.dtype)([one(x), (one if self.chance.integers(2) else other)(x),
                                                          other(x)])
        return self.keras.Model(x, self.part(depth)(joined))

    def model(self, depth=3, kinds=2):
        """Return a Sequential or Functional model (kinds=2), or possibly a subclassed one (kinds=3), with numbers."""
        model = self.part(depth, kinds)
        model(self.keras.ops.zeros((1, WIDTH), dtype=self.dtype))
        model.set_weights([self.chance.uniform(0.1, 1, weight.shape) for weight in model.get_weights()])
        return model


def numbers(keras, model, dtype="float32"):
    """Return what a model makes of fixed numbers."""
    x = keras.ops.cast(numpy.linspace(-1, 1, 4 * WIDTH, dtype="float32").reshape(4, WIDTH), dtype)
    return numpy.asarray(keras.ops.convert_to_numpy(keras.ops.cast(model(x), "float32")))
