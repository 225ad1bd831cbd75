"""`nn.parallel.comm` under its older name."""
from dragon.vm.torch.nn.parallel.comm import (broadcast, broadcast_coalesced, gather, reduce_add,  # noqa: F401
                                              reduce_add_coalesced, scatter)
