"""Whether functions that are called now are rewritten, and how much is told of it."""
import enum
import os
import threading

from dragon.core.scopes import contextmanager

_local = threading.local()
verbosity = [None, False]  # a level, None for the environment's; whether it is printed as well


class Feature(enum.Enum):
    """Parts of the rewriting that can be asked for.

    `ALL` stands for all of them; those that have not to do with `assert`, `==` and lists change nothing here.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls):
        """Return a tuple with all features."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude):
        """Return a tuple with all features but some."""
        left_out = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(feature for feature in cls.all() if feature not in left_out and feature is not cls.ALL)


WORDS = {Feature.ASSERT_STATEMENTS: "asserts", Feature.EQUALITY_OPERATORS: "equality", Feature.LISTS: "lists"}


def features_of(given):
    """Return what the rewriter calls features, or raise a ValueError for what is none.

    Parameters
    ----------
    given : Union[Feature, Collection[Feature]], optional
        Features.

    Returns
    -------
    Tuple[str, ...]
        In the order of the letters.

    """
    wanted = () if given is None else (given,) if isinstance(given, Feature) else tuple(given)
    for feature in wanted:
        if not isinstance(feature, Feature):
            raise ValueError(f"AutoGraph: optional features must be tf.autograph.experimental.Feature, got {feature!r}")
    return tuple(sorted(word for feature, word in WORDS.items() if feature in wanted or Feature.ALL in wanted))


class Status:
    """How functions are rewritten just now.

    Parameters
    ----------
    enabled : bool
        Whether they are.
    features : Tuple[str, ...], optional, default=()
        What is rewritten besides; see `features_of`.
    recursive : bool, optional, default=True
        Whether functions that they call are rewritten too.

    """

    def __init__(self, enabled, features=(), recursive=True):
        self.enabled, self.features, self.recursive = enabled, features, recursive


def current():
    """Return the status of this thread, or None outside of all that sets one."""
    return getattr(_local, "status", None)


@contextmanager
def within(status):
    """Have a status for a `with` block."""
    before = current()
    _local.status = status
    try:
        yield
    finally:
        _local.status = before


def level():
    """Return how much is told."""
    given = verbosity[0]
    return int(os.environ.get("AUTOGRAPH_VERBOSITY", "0") or 0) if given is None else given


def tell(least, message):
    """Print a message, if as much shall be told."""
    if level() >= least and (verbosity[1] or "AUTOGRAPH_VERBOSITY" in os.environ or verbosity[0]):
        print(message)
