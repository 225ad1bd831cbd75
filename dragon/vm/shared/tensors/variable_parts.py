"""Parts of variables: read, replaced and added to by subscript, by rows and by rows of numbers."""
from dragon import _C
from dragon.core.modes import no_grad
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.indexing import _item, get_item
from dragon.vm.shared.tensors.tensor import Tensor, ops


class Part(Tensor):
    """A part of a variable as a tensor, which knows where it came from."""

    __hash__ = Tensor.__hash__

    def assign(self, value, name=None, use_locking=False, read_value=True):
        """Replace this part of the variable; returns the variable."""
        return self._put(convert_to_tensor(value, self.dtype))

    def assign_add(self, delta, name=None, use_locking=False, read_value=True):
        """Add to this part of the variable; returns the variable."""
        return self._put(get_item(*self._place) + convert_to_tensor(delta, self.dtype))

    def assign_sub(self, delta, name=None, use_locking=False, read_value=True):
        """Subtract from this part of the variable; returns the variable."""
        return self._put(get_item(*self._place) - convert_to_tensor(delta, self.dtype))

    def _put(self, value):
        variable, key = self._place
        parts = key if isinstance(key, (tuple, list)) else (key,)
        with no_grad():
            fresh = ops.clone(variable)
            _C.Tensor.__setitem__(fresh, tuple(_item(part, key) for part in parts), value.detach())
        return variable.assign(fresh)


class VariableParts:
    """The methods of `tf.Variable` for its parts."""

    def __getitem__(self, key):
        found = get_item(self, key)
        if type(found) is Tensor:
            found.__class__ = Part
            found._place = self, key
        return found

    def sparse_read(self, indices, name=None):
        """Return rows by number."""
        from dragon.vm.shared.arrays.gathering import gather
        return gather(self, indices)

    def gather_nd(self, indices, name=None):
        """Return entries by rows of numbers."""
        from dragon.vm.shared.arrays.gathering import gather_nd
        return gather_nd(self, indices)

    def _by_rows(self, name, slices):
        from dragon.vm.shared.tensors.slices import IndexedSlices
        if not isinstance(slices, IndexedSlices):
            raise TypeError(f"{name}: expected tf.IndexedSlices. Received: {slices!r}")
        return ops.reshape(ops.cast(slices.indices, "int64"), (-1,)), convert_to_tensor(slices.values, self.dtype)

    def _scatter(self, name, slices, accumulate=None, reduce=None):
        """Assign what comes of rows put in, added, or compared."""
        with no_grad():
            places, rows = self._by_rows(name, slices)
            rows = ops.reshape(rows, (-1, *self.shape[1:]))
            if reduce is not None:
                made = ops.index_reduce(self, 0, places, rows, reduce)
            elif accumulate is None:
                made = ops.index_put(self, [places], rows, False, from_end=False)
            else:
                made = ops.index_add(self, 0, places, rows if accumulate > 0 else -rows)
        return self.assign(made)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Replace rows; returns the variable."""
        return self._scatter("scatter_update", sparse_delta)

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        """Add to rows; returns the variable."""
        return self._scatter("scatter_add", sparse_delta, 1)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """Subtract from rows; returns the variable."""
        return self._scatter("scatter_sub", sparse_delta, -1)

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        """Multiply rows; returns the variable."""
        return self._scatter("scatter_mul", sparse_delta, reduce="prod")

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        """Replace numbers of rows that are less; returns the variable."""
        return self._scatter("scatter_max", sparse_delta, reduce="amax")

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        """Replace numbers of rows that are greater; returns the variable."""
        return self._scatter("scatter_min", sparse_delta, reduce="amin")

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        """Divide rows, none of them twice; returns the variable."""
        places, rows = self._by_rows("scatter_div", sparse_delta)
        with no_grad():
            made = ops.index_put(self, [places], ops.index_select(self, 0, places) / rows, False, from_end=False)
        return self.assign(made)

    def _scatter_nd(self, kind, indices, updates):
        from dragon.vm.shared.arrays import gathering
        with no_grad():
            function = getattr(gathering, f"tensor_scatter_nd_{kind}")
            made = function(self, indices, convert_to_tensor(updates, self.dtype))
        return self.assign(made)

    def scatter_nd_update(self, indices, updates, name=None):
        """Replace entries at rows of numbers; returns the variable."""
        return self._scatter_nd("update", indices, updates)

    def scatter_nd_add(self, indices, updates, name=None):
        """Add to entries at rows of numbers; returns the variable."""
        return self._scatter_nd("add", indices, updates)

    def scatter_nd_sub(self, indices, updates, name=None):
        """Subtract from entries at rows of numbers; returns the variable."""
        return self._scatter_nd("sub", indices, updates)

    def scatter_nd_max(self, indices, updates, name=None):
        """Replace entries that are less at rows of numbers; returns the variable."""
        return self._scatter_nd("max", indices, updates)

    def scatter_nd_min(self, indices, updates, name=None):
        """Replace entries that are greater at rows of numbers; returns the variable."""
        return self._scatter_nd("min", indices, updates)

    def count_up_to(self, limit):
        """Return the number, and add 1 to it as long as it is below a limit."""
        from dragon.vm.shared.errors import OutOfRangeError
        now = convert_to_tensor(self)
        if int(now) >= limit:
            raise OutOfRangeError(None, None, f"Reached limit of {limit}")
        self.assign_add(1)
        return now
