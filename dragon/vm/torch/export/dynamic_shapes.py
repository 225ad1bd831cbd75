"""`torch.export.dynamic_shapes`: which sizes of a program's inputs may vary, and how they are called."""
from dragon.vm.torch.core.exporting.dims import (  # noqa: F401
    AdditionalInputs, Constraint, Dim, DimHint, FollowingDim, ShapesCollection, _DerivedDim, _DimHint, _IntWrapper,
    dims, refine_dynamic_shapes_from_suggested_fixes)
