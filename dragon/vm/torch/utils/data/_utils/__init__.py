"""The parts of the loader, under the paths that other packages know."""
import atexit

from dragon.vm.torch.core.failures import ExceptionWrapper  # noqa: F401: PyTorch had it here
from dragon.vm.torch.utils.data._utils import collate, fetch, pin_memory, signal_handling, worker
from dragon.vm.torch.utils.data._utils.pin_memory import MP_STATUS_CHECK_INTERVAL  # noqa: F401: PyTorch has it here

HAS_NUMPY = True
IS_WINDOWS = False
python_exit_status = False  # whether Python is ending: loaders wait for nobody then


def _set_python_exit_flag():
    global python_exit_status
    python_exit_status = True


atexit.register(_set_python_exit_flag)
