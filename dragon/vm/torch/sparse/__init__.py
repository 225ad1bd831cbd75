"""`torch.sparse`: functions of sparse tensors."""
from dragon.vm.guest import lookup
from dragon.vm.torch.core.sparse.face import (CLASSES as _classes, addmm, as_sparse_gradcheck, log_softmax, mm,
                                              sampled_addmm, softmax, spdiags, spsolve, sum)
from dragon.vm.torch.core.sparse.invariants import check_sparse_tensor_invariants

globals().update(_classes)
__getattr__, __dir__ = lookup(globals(), {"sparse.semi_structured": "SparseSemiStructuredTensor "
                                          "SparseSemiStructuredTensorCUTLASS SparseSemiStructuredTensorCUSPARSELT "
                                          "to_sparse_semi_structured"})
