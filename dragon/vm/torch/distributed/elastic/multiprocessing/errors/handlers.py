"""What writes errors to files."""
from dragon.vm.torch.distributed.elastic.multiprocessing.errors import get_error_handler  # noqa: F401
