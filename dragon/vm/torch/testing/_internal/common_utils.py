"""`torch.testing._internal.common_utils`: test cases, tests for many values, what tests ask and set."""
from dragon.vm.torch.storage import TypedStorage  # noqa: F401
from dragon.vm.torch.testing import make_tensor  # noqa: F401
from dragon.vm.torch.testing._internal._cases import (  # noqa: F401
    SEED, TestCase, TestCaseBase, load_tests, run_tests, set_rng_seed)
from dragon.vm.torch.testing._internal._dtypes import (  # noqa: F401
    numpy_to_torch_dtype, numpy_to_torch_dtype_dict, torch_to_numpy_dtype_dict)
from dragon.vm.torch.testing._internal._matrices import *  # noqa: F401, F403
from dragon.vm.torch.testing._internal._parametrized import (  # noqa: F401
    _TestParametrizer, compose_parametrize_fns, decorateIf, dtype_name, instantiate_parametrized_tests, parametrize,
    reparametrize, subtest)
from dragon.vm.torch.testing._internal._surroundings import *  # noqa: F401, F403
from dragon.vm.torch.testing._internal._surroundings import _check_module_exists  # noqa: F401
