"""What the hooks of PowerSGD keep from step to step."""
import logging

from dragon.vm.torch import random as torch_random
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed.making import _group

logger = logging.getLogger(__name__)


class PowerSGDState:
    """What the hooks of PowerSGD know.

    Parameters
    ----------
    process_group : Optional[ProcessGroup]
        The processes; all for None.
    matrix_approximation_rank : int, optional, default=1
        Columns of the thin matrices.
    start_powerSGD_iter : int, optional, default=1000
        The step from which on gradients are compressed.
    min_compression_rate : float, optional, default=2
        How many times smaller the two thin matrices must be.
    use_error_feedback : bool, optional, default=True
        Whether what one step leaves out is added in the next.
    warm_start : bool, optional, default=True
        Whether a step begins with the thin matrices of the last.
    orthogonalization_epsilon : float, optional, default=0
        Added to the lengths of columns, of which some may be zero.
    random_seed : int, optional, default=0
        Of the first matrices.
    compression_stats_logging_frequency : int, optional, default=10000
        Steps from one report to the log to the next.
    batch_tensors_with_same_shape : bool, optional, default=False
        Whether gradients of one shape are multiplied together.

    """

    __slots__ = ["process_group", "matrix_approximation_rank", "start_powerSGD_iter", "min_compression_rate",
                 "orthogonalization_epsilon", "use_error_feedback", "warm_start", "batch_tensors_with_same_shape",
                 "rng", "error_dict", "p_memory_dict", "q_memory_dict", "iter", "total_numel_before_compression",
                 "total_numel_after_compression", "compression_stats_logging_frequency", "next_stats_report"]

    def __init__(self, process_group, matrix_approximation_rank=1, start_powerSGD_iter=1000, min_compression_rate=2,
                 use_error_feedback=True, warm_start=True, orthogonalization_epsilon=0, random_seed=0,
                 compression_stats_logging_frequency=10000, batch_tensors_with_same_shape=False):
        import numpy
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError("Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, "
                             "because PowerSGD can only be applied after the first two iterations in DDP.")
        self.process_group, self.matrix_approximation_rank = process_group, matrix_approximation_rank
        self.start_powerSGD_iter, self.min_compression_rate = start_powerSGD_iter, min_compression_rate
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape
        self.rng = numpy.random.RandomState(random_seed)
        self.error_dict, self.p_memory_dict, self.q_memory_dict = {}, {}, {}
        self.iter = self.next_stats_report = 0
        self.total_numel_before_compression = self.total_numel_after_compression = 0
        self.compression_stats_logging_frequency = max(1, compression_stats_logging_frequency)

    def __getstate__(self):
        logger.warning("NOTE: Process group is not serializable and excluded from a saved state.")
        return {name: getattr(self, name) for name in self.__slots__ if name != "process_group"}

    def __setstate__(self, state):
        self.process_group = _group()
        logger.warning("NOTE: Process group will be set to a default group (i.e. the world size). If a different group "
                       "is desired, please set `self.process_group` after PowerSGD state is loaded.")
        for name, value in state.items():
            setattr(self, name, value)

    def maybe_increase_iter(self, bucket):
        """Count a step with its last bucket."""
        self.iter += bucket.is_last()
        if self.iter == self.start_powerSGD_iter:
            logger.info("Start to apply PowerSGD after %s iterations.", self.iter)

    def count(self, before, after):
        """Count numbers as they were, and as they travel."""
        self.total_numel_before_compression += before
        self.total_numel_after_compression += after

    def compression_stats(self):
        """Return (how many times less travels, numbers before, numbers after)."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return before / after if after else 0, before, after

    def report(self, bucket):
        """Tell the log how much was saved, now and then."""
        if bucket.is_last() and self.iter >= self.next_stats_report:
            rate, before, after = self.compression_stats()
            logger.info("Compression stats: iter %s, total before compression %s, total after compression %s, rate %s",
                        self.iter, before, after, rate)
            self.next_stats_report = self.iter + self.compression_stats_logging_frequency

    def draw(self, matrices):
        """Fill matrices with random numbers, the same on all processes; the generator goes on where it was."""
        with torch_random.fork_rng(devices=[]):
            torch_random.manual_seed(self.rng.randint(1_000_000_000))
            for matrix in matrices:
                matrix.copy_(ops.randn(tuple(matrix.shape), dtype=matrix.dtype))
