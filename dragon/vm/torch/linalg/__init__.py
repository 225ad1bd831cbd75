"""`torch.linalg`: linear algebra."""
from dragon.vm.torch.core.functions.linalg import NAMESPACE as _namespace

globals().update(_namespace)
