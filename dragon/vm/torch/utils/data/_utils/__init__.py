"""The parts of the loader, under the paths that other packages know."""
from dragon.vm.torch.utils.data._utils import collate, fetch, pin_memory, worker

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds a worker has to end when asked to
HAS_NUMPY = True
IS_WINDOWS = False
