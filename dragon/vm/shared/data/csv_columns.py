"""The columns of files of comma separated values: each has a dtype and what its empty fields hold."""
from dragon.vm.shared import errors
from dragon.vm.shared.data.rows import array_of
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import DType


class Column:
    """The reader of the fields of one column.

    Parameters
    ----------
    default : Any
        A dtype or an empty tensor where a value must be there; else what empty fields hold.
    number : int
        Which column it is.
    na_value : str
        A text that stands for an empty field.

    """

    def __init__(self, default, number, na_value):
        if isinstance(default, DType):
            self.tensor = convert_to_tensor([], dtype=default)
        elif isinstance(default, list) and not default:
            self.tensor = convert_to_tensor(default, dtype="float32")
        else:
            self.tensor = convert_to_tensor(default)
        self.number, self.na_value = number, na_value
        values = array_of(self.tensor).reshape(-1)
        self.default = values[0] if values.size else None
        self.text = self.tensor.dtype.name == "string"

    def read(self, fields):
        """Return the values of fields as an array."""
        import numpy as np
        values = [self._value(record, field) for record, field in enumerate(fields)]
        array = np.empty(len(values), object if self.text else self.tensor.dtype.as_numpy_dtype)
        array[:] = values
        return array

    def _value(self, record, field):
        if not field or field == self.na_value:
            if self.default is None:
                raise errors.InvalidArgumentError(None, None, f"Field {self.number} is required but missing in record "
                                                  f"{record}!")
            return self.default
        if self.text:
            return field.encode("utf-8", "surrogateescape")
        try:
            return float(field) if self.tensor.dtype.is_floating else int(field)
        except ValueError:
            raise errors.InvalidArgumentError(
                None, None, f"Field {self.number} in record {record} is not a valid {self.tensor.dtype.name}: "
                f"{field}") from None
