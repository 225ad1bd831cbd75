"""`tf.data.Options`: what a user may ask of a pipeline besides its elements."""
import enum

from dragon.vm.shared.letters import expect
from dragon.vm.shared.naming import known_as


class AutoShardPolicy(enum.IntEnum):
    """The ways of splitting a dataset among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(enum.Enum):
    """The ways of searching the sizes of buffers and the numbers of threads."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.Enum):
    """The ways of treating datasets with a state outside when they are written as graphs."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class Group:
    """Options with fixed names, all None until they are set."""

    _names = ()

    def __init__(self):
        for name in self._names:
            object.__setattr__(self, name, None)

    def __setattr__(self, name, value):
        if name not in self._names:
            raise AttributeError(f"{type(self).__name__}: got option {name!r}, expected one of {sorted(self._names)}")
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = None

    def __repr__(self):
        chosen = {name: value for name, value in vars(self).items() if value is not None}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in chosen.items())})"

    def _over(self, other):
        """Return options that are this group's, where set, and else another's."""
        merged = type(self)()
        for name in self._names:
            own, below = getattr(self, name), getattr(other, name)
            setattr(merged, name, own._over(below) if isinstance(own, Group) else below if own is None else own)
        return merged


@known_as("tensorflow.data")
class ThreadingOptions(Group):
    """Options about threads. Pipelines here choose their threads themselves."""

    _names = ("max_intra_op_parallelism", "private_threadpool_size")


class AutotuneOptions(Group):
    """Options about automatic choices. Pipelines here measure instead."""

    _names = ("enabled", "cpu_budget", "ram_budget", "autotune_algorithm", "initial_parallelism", "min_parallelism")


class DistributeOptions(Group):
    """Options about several workers."""

    _names = ("auto_shard_policy", "num_devices")

    def __init__(self):
        super().__init__()
        self.auto_shard_policy = AutoShardPolicy.AUTO


class OptimizationOptions(Group):
    """Options about the rewriting of pipelines."""

    _names = ("apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
              "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization",
              "noop_elimination", "parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion",
              "warm_start")


class ServiceOptions(Group):
    """Options about a service of pipelines."""

    _names = ("pinned",)


@known_as("tensorflow.data")
class Options(Group):
    """Options of a dataset, given to it by `with_options`."""

    _names = ("autotune", "dataset_name", "deterministic", "distribute", "experimental_deterministic",
              "experimental_distribute", "experimental_external_state_policy", "experimental_optimization",
              "experimental_service", "experimental_slack", "experimental_symbolic_checkpoint",
              "experimental_threading", "experimental_warm_start", "external_state_policy", "framework_type",
              "optimization", "service", "slack", "symbolic_checkpoint", "threading", "warm_start")

    def __init__(self):
        super().__init__()
        self.autotune, self.threading = AutotuneOptions(), ThreadingOptions()
        self.distribute = self.experimental_distribute = DistributeOptions()
        self.optimization = self.experimental_optimization = OptimizationOptions()
        self.experimental_threading = self.threading
        self.service = self.experimental_service = ServiceOptions()

    def merge(self, options):
        """Return these options with others over them."""
        return expect(options, type(self), "merge", "options")._over(self)
