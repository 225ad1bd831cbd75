"""What a program assigns to its modules while it is exported: buffers are written, and everything is put back."""
from dragon.vm.torch.core.exporting.tracer import aten
from dragon.vm.torch.core.tensor import Tensor


class Attributes:
    """The attributes of a module and those within it, as they were.

    Parameters
    ----------
    root : Module
        The module.

    """

    def __init__(self, root):
        self.before = [(name, part, dict(vars(part)), dict(part._buffers), dict(part._parameters))
                       for name, part in root.named_modules()]
        self.tables = [(value, value.copy()) for _, _, fields, _, _ in self.before for value in fields.values()
                       if type(value) in (dict, list, set)]

    def note_writes(self):
        """Note at the tracer that buffers which were assigned are written, and raise for other tensors."""
        for name, part, fields, buffers, _ in self.before:
            for key, old in buffers.items():
                new = part._buffers.get(key)
                if new is not old and isinstance(new, Tensor) and isinstance(old, Tensor):
                    aten().copy_.default(old, new)
            for key, new in vars(part).items():
                if isinstance(new, Tensor) and fields.get(key) is not new:
                    raise ValueError(f"The tensor attribute self.{name + '.' if name else ''}{key} was assigned during "
                                     "export. Such attributes must be registered as buffers using the "
                                     "`register_buffer` API")

    def restore(self):
        """Put everything back."""
        for _, part, fields, buffers, parameters in self.before:
            own = vars(part)
            for key in [key for key in own if key not in fields]:
                del own[key]
            own.update(fields)
            for table, known in ((part._buffers, buffers), (part._parameters, parameters)):
                table.clear()
                table.update(known)
        for table, known in self.tables:  # what a module keeps of a call, such as a cache, has no numbers
            table.clear()
            table.extend(known) if isinstance(table, list) else table.update(known)
