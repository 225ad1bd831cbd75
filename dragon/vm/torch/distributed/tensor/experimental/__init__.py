"""Ways to leave tensors on a mesh and to come back, and rules of one's own."""
from dragon.vm.torch.core import absent
from dragon.vm.torch.distributed.tensor._dispatch import implicit_replication
from dragon.vm.torch.distributed.tensor.experimental._func_map import local_map
from dragon.vm.torch.distributed.tensor.experimental._register_sharding import register_sharding

absent.fill(globals(), "distributed.tensor.experimental")
