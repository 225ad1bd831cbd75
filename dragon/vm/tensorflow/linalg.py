"""`tf.linalg`: products, norms, decompositions and solutions of matrices."""
from dragon.vm.guest import gather as _gather, lookup as _lookup
from dragon.vm.shared.arrays.creation import eye  # noqa: F401
from dragon.vm.shared.arrays.reducing import l2_normalize  # noqa: F401
from dragon.vm.tensorflow.core.numbers import matrices as _matrices, solving as _solving
from dragon.vm.tensorflow.core.numbers.clipping import global_norm  # noqa: F401

_gather(globals(), _matrices, _solving)

__getattr__, __dir__ = _lookup(globals(), {
    "core.linear.classes": "LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag "
                           "LinearOperatorBlockLowerTriangular LinearOperatorCirculant "
                           "LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorComposition "
                           "LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorHouseholder "
                           "LinearOperatorIdentity LinearOperatorInversion LinearOperatorKronecker "
                           "LinearOperatorLowRankUpdate LinearOperatorLowerTriangular "
                           "LinearOperatorPermutation LinearOperatorScaledIdentity LinearOperatorToeplitz "
                           "LinearOperatorTridiag LinearOperatorZeros",
})
