"""How long collectives would wait."""
from datetime import timedelta

from dragon.vm.torch.core.missing import module_getattr

default_pg_timeout = timedelta(minutes=30)
default_pg_nccl_timeout = timedelta(minutes=10)
__getattr__ = module_getattr("torch.distributed.constants", globals())
