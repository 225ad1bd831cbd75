"""`torch.linalg`: linear algebra."""
from dragon.vm.torch.core.functions.linalg import NAMESPACE as _namespace
from dragon.vm.torch.core.functions.notes import common_notes

globals().update(_namespace)
