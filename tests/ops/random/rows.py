"""Rows of the random operators. Their numbers are compared with PyTorch's streams in `tests/random`."""
from harness import FLOATING, INTEGER, REAL, SINGLES, Given, Row, Sample, Wrong

SHAPES = [Sample((3,)), Sample((2, 3, 4)), Sample((20, 5)), Sample((2, 0))]
ONCE = ("float32",)
STREAMS = "PyTorch's own numbers are in tests/random"


def like(name, *more, dtypes=FLOATING, errors=(), **options):
    """Return a row of a sampler that takes shape and dtype from its first argument."""
    samples = SHAPES if not more else [Sample(*s.args, *more[0]) for s in SHAPES]
    samples = samples + [Sample((4, 3), *args) for args in more[1:]]
    return Row(name, samples, random=True, dtypes=dtypes, errors=errors, second=STREAMS, **options)


def create(name, *samples, errors=()):
    """Return a row of an operator that makes numbers from a shape."""
    return Row(name, list(samples), random=True, dtypes=ONCE, gradient=False, errors=errors)


DROPS = [Sample((4, 5), 0.3), Sample((4, 5), 0.3, False), Sample((4, 0), 0.5), Sample((3, 4), 1.0), Sample((3, 4), 0.0)]
CHANCE = {"domain": (0.0, 1.0), "random": True, "gradient": False}


SEED = Given((2,), dtype="int64", low=1, high=9)
STATELESS = "TensorFlow's own numbers are in tests/random"


def stateless(name, *options, dtypes=ONCE, errors=()):
    """Return a row of a function of a seed and a shape."""
    samples = [Sample(SEED, [2, 3]), Sample(SEED, [0, 2]), *[Sample(SEED, [600], **more) for more in options]]
    bad = [Wrong(Given((4,), dtype="int64"), [2], says="seed"), Wrong(Given((2,)), [2], error=TypeError, says="seed")]
    return Row(name, samples, random=True, dtypes=dtypes, gradient=False, second=STATELESS, errors=[*bad, *errors])


ROWS = [
    like("uniform", (), (-2.0, 5.0), errors=[Wrong((3,), 2.0, 1.0, says="low"),
                                             Wrong(Given((3,), dtype="int64"), error=TypeError, says="int64")]),
    like("normal", (), (3.0, 0.5), errors=[Wrong((3,), 0.0, -1.0, says="std")]),
    like("log_normal", (), (0.0, 0.5), errors=[Wrong((3,), 0.0, 0.0, says="std")]),
    like("cauchy", (), (1.0, 3.0), errors=[Wrong((3,), 0.0, float("nan"), says="sigma")]),
    like("exponential", (), (2.0,), errors=[Wrong((3,), 0.0, says="rate")]),
    like("geometric", (0.4,), (0.9,), dtypes=REAL, errors=[Wrong((3,), 1.5, says="p")]),
    like("random", (), (0, 10), (None, 7), (3,), dtypes=REAL,
         errors=[Wrong((3,), 5, 5, says="low < high"), Wrong(Given((3,), dtype="int8"), 0, 1000, says="int8")]),
    like("bernoulli_like", (), (0.9,), dtypes=REAL + ("bool",), errors=[Wrong((3,), 1.5, says="p")]),
    create("rand", Sample([2, 3]), Sample([0]), Sample([]), Sample([4], dtype="float64"),
           errors=[Wrong([-1], says="-1"), Wrong([3], dtype="int64", error=TypeError, says="int64")]),
    create("randn", Sample([2, 3]), Sample([40]), errors=[Wrong([2**40, 2**40], says="shape")]),
    create("randint", Sample(0, 5, [2, 3]), Sample(-3, 4, [5], dtype="float32"),
           errors=[Wrong(5, 5, [2], says="low < high")]),
    create("randperm", Sample(0), Sample(1), Sample(20), Sample(9, dtype="int32"), errors=[Wrong(-1, says="-1")]),
    like("rand_like", gradient=False, out="the memory is its own"),
    like("randn_like", gradient=False, out="the memory is its own"),
    like("randint_like", (0, 5), dtypes=FLOATING + INTEGER, gradient=False, out="the memory is its own"),
    Row("bernoulli", SHAPES, errors=[Wrong(Given((3,), low=2.0, high=3.0), says="probability")], **CHANCE),
    Row("bernoulli_of", [Sample(Given((2, 3), dtype="int64"), (2, 3)), Sample((2, 3), (3,)), Sample((0, 3), (3,))],
        errors=[Wrong((3,), (2, 3), says="broadcast")], **CHANCE),
    Row("multinomial", [Sample((5,), 3), Sample((2, 5), 1), Sample((2, 5), 7, True)],
        errors=[Wrong((5,), 6, says="replacement"), Wrong((), 1, says="shape"), Wrong((5,), 0, says="num_samples")],
        **CHANCE),
    Row("normal_of", [Sample((2, 3), (2, 3), Given((2, 3), low=0.0, high=2.0)),
                      Sample((20, 3), (3,), Given((), low=0.0, high=2.0)), Sample((0, 3), (3,), (0, 3))],
        errors=[Wrong((3,), (3,), Given((3,), low=-2.0, high=-1.0), says="std"),
                Wrong((3,), (2, 3), Given((), low=0.0, high=1.0), says="shape"),
                Wrong((3,), (3,), Given((3,), dtype="complex64"), error=TypeError, says="real")],
        random=True, gradient=False),
    Row("poisson", SHAPES, random=True, domain=(0.0, 20.0), gradient=False,
        errors=[Wrong(Given((3,), low=-2.0, high=-1.0), says="rate")]),
    Row("binomial", [Sample(Given((2, 3), low=1.0, high=50.0), (3,)), Sample((0,), (0,))], dtypes=SINGLES,
        errors=[Wrong(Given((2,), low=-3.0, high=-1.0), (2,), says="trials")], **CHANCE),
    Row("standard_gamma", SHAPES, random=True, domain=(0.1, 20.0), gradient=False,
        errors=[Wrong(Given((3,), low=-2.0, high=-1.0), says="shape")]),
    Row("native_dropout", [Sample((4, 5), 0.3), Sample((4, 5), 0.3, False), Sample((4, 0), 0.5)], random=True,
        outputs=(0,), errors=[Wrong((3,), 1.5, says="p")]),
    Row("dropout", DROPS, random=True, errors=[Wrong((3,), -0.5, says="p")]),
    Row("alpha_dropout", DROPS, random=True),
    Row("feature_dropout", [Sample((4, 5, 3), 0.3), Sample((4, 5), 0.3)], random=True,
        errors=[Wrong((3,), says="axes")]),
    Row("feature_alpha_dropout", [Sample((4, 5, 3), 0.3)], random=True),
    Row("dropout1d", [Sample((4, 5, 3), 0.3), Sample((5, 3), 0.3)], random=True, errors=[Wrong((3,), says="axes")]),
    Row("dropout2d", [Sample((4, 5, 3, 2), 0.3), Sample((5, 3, 2), 0.3)], random=True),
    Row("dropout3d", [Sample((2, 5, 3, 2, 2), 0.3), Sample((5, 3, 2, 2), 0.3)], random=True),
    stateless("stateless_uniform", {"low": -1.0, "high": 3.0}, {"dtype": "float64"}, {"dtype": "float16"},
              errors=[Wrong(SEED, [2], dtype="int32", error=TypeError, says="floating")]),
    stateless("stateless_normal", {"mean": 1.0, "std": 2.0}, {"dtype": "float64"}, {"dtype": "bfloat16"}),
    stateless("stateless_truncated_normal", {"std": 0.1}, {"dtype": "float64"}),
    stateless("stateless_integers", {"low": 0, "high": 9}, {"dtype": "int64"},
              errors=[Wrong(SEED, [2], low=3, high=3, says="low < high"), Wrong(SEED, [2], low=3, says="both")]),
    Row("stateless_gamma", [Sample(SEED, (2, 3)), Sample(SEED, (2,), 4), Sample(SEED, (0,))], random=True,
        domain=(0.1, 20.0), gradient=False, second=STATELESS, dtypes=ONCE,
        errors=[Wrong(SEED, (2,), -1, says="samples")]),
    Row("stateless_categorical", [Sample(SEED, (2, 3), 5), Sample(SEED, (0, 3), 5)], random=True, gradient=False,
        second=STATELESS, dtypes=ONCE, errors=[Wrong(SEED, (3,), 2, says="rows")]),
    Row("stateless_binomial", [Sample(SEED, (2, 3), (2, 3))], random=True, domain=(0.0, 1.0), gradient=False,
        second=STATELESS, dtypes=ONCE, errors=[Wrong(SEED, (3,), (2,), says="shape")]),
]
