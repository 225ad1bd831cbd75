"""Timing statements: `torch.utils.benchmark`."""
from dragon.vm.torch.utils.benchmark.common import (Language, ordered_unique, select_unit, set_torch_threads,
                                                    trim_sigfig, unit_to_english)
from dragon.vm.torch.utils.benchmark.compare import Colorize, Compare
from dragon.vm.torch.utils.benchmark.counts import FunctionCount, FunctionCounts
from dragon.vm.torch.utils.benchmark.fuzzing import (FuzzedParameter, FuzzedSparseTensor, FuzzedTensor, Fuzzer,
                                                     ParameterAlias)
from dragon.vm.torch.utils.benchmark.timer import Measurement, TaskSpec, Timer
