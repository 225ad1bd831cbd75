"""All classes of linear operators, with their products and with what functions of matrices make of them."""
from dragon.vm.tensorflow.core.linear import calls, products  # noqa: F401: known by being imported
from dragon.vm.tensorflow.core.linear.blocks import (  # noqa: F401
    LinearOperatorBlockDiag, LinearOperatorBlockLowerTriangular)
from dragon.vm.tensorflow.core.linear.circulant import (  # noqa: F401
    LinearOperatorCirculant, LinearOperatorCirculant2D, LinearOperatorCirculant3D)
from dragon.vm.tensorflow.core.linear.composed import (  # noqa: F401
    LinearOperatorAdjoint, LinearOperatorComposition, LinearOperatorInversion)
from dragon.vm.tensorflow.core.linear.diagonal import LinearOperatorDiag  # noqa: F401
from dragon.vm.tensorflow.core.linear.full import (  # noqa: F401
    LinearOperatorFullMatrix, LinearOperatorLowerTriangular)
from dragon.vm.tensorflow.core.linear.kronecker import LinearOperatorKronecker  # noqa: F401
from dragon.vm.tensorflow.core.linear.operator import LinearOperator  # noqa: F401
from dragon.vm.tensorflow.core.linear.sized import (  # noqa: F401
    LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorZeros)
from dragon.vm.tensorflow.core.linear.structured import (  # noqa: F401
    LinearOperatorHouseholder, LinearOperatorPermutation, LinearOperatorToeplitz, LinearOperatorTridiag)
from dragon.vm.tensorflow.core.linear.update import LinearOperatorLowRankUpdate  # noqa: F401
