"""Parameters of several modules as one flat tensor, of which each process has a part."""
from dragon.core import modes
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn.parameter import Parameter


class FlatParameter(Parameter):
    """A process's part of several parameters, one after the other."""


class Piece:
    """One of the parameters.

    Parameters
    ----------
    name : str
        Its name in the wrapped module.
    param : Parameter
        The parameter as it was, or still is where modules keep theirs.
    start : int
        Its place in the whole.

    """

    def __init__(self, name, param, start):
        self.name, self.param, self.shape, self.numel = name, param, tuple(param.shape), param.numel()
        self.start, self.requires_grad = start, param.requires_grad
        self.places = []  # (module, name, its names in order): more than one where modules share it

    def within(self, first, last):
        """Return where the part of it lies that is between two places of the whole; empty if there is none."""
        low = min(max(self.start, first), last)
        return low, max(min(self.start + self.numel, last), low)


def _walk(module, prefix, is_other):
    """Yield a module and those within it, with the prefixes of their names, but for some that stand for themselves."""
    yield prefix, module
    for name, child in module.named_children():
        if not is_other(child):
            yield from _walk(child, f"{prefix}{name}.", is_other)


def find_pieces(root, is_other, ignored):
    """Return a module's parameters as pieces, each once.

    Parameters
    ----------
    root : Module
        The module.
    is_other : Callable[[Module], bool]
        Whether a module within it is left out, with what is in it.
    ignored : Set[Parameter]
        Parameters that are left out.

    Returns
    -------
    List[Piece]
        The pieces.

    """
    found, at, seen = {}, 0, set()
    for prefix, module in _walk(root, "", is_other):
        if id(module) in seen:
            continue
        seen.add(id(module))
        names = list(module._parameters)
        for name, param in module._parameters.items():
            if param is None or param in ignored or isinstance(param, FlatParameter):
                continue
            if id(param) not in found:
                found[id(param)] = Piece(prefix + name, param, at)
                at += param.numel()
            found[id(param)].places.append((module, name, names))
    return list(found.values())


class Handle:
    """Pieces in one flat tensor: whole while they are used, and in parts at other times.

    Parameters
    ----------
    pieces : List[Piece]
        The parameters.
    group : dragon.distributed.group.ProcessGroup
        Who has the parts.
    is_sharded : bool
        Whether each process has a part only.
    keeps_originals : bool
        Whether modules keep their parameters, which are views of the part.
    dtype : dtype, optional
        What is computed in; by default that of the parameters.

    """

    def __init__(self, pieces, group, is_sharded, keeps_originals, dtype=None):
        self.pieces, self.group, self.keeps_originals = pieces, group, keeps_originals
        self.is_sharded = is_sharded and group.size > 1
        kinds = {piece.param.dtype for piece in pieces}
        if len(kinds) > 1:
            raise ValueError("Must flatten tensors with uniform dtype but got " + " and ".join(sorted(map(str, kinds))))
        wanted = {piece.requires_grad for piece in pieces}
        if len(wanted) > 1 and not keeps_originals:
            raise ValueError("Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`")
        self.numel = sum(piece.numel for piece in pieces)
        self.part_size = -(-self.numel // group.size) if self.is_sharded else self.numel
        self.first = self.part_size * group.rank if self.is_sharded else 0
        whole_size = self.part_size * group.size if self.is_sharded else self.numel
        whole = ops.cat([piece.param.detach().reshape(-1) for piece in pieces], 0)
        self.flat_param = FlatParameter(self._part_of(self._padded(whole, whole_size)).clone(), any(wanted))
        self.kept_dtype, self.dtype = whole.dtype, dtype or whole.dtype
        self._sizes = [piece.numel for piece in pieces] + [whole_size - self.numel]
        self._shares = not self.is_sharded and self.dtype == whole.dtype  # the whole is the part
        made = self.flat_param.detach() if self._shares else ops.zeros(
            whole_size, dtype=self.dtype, device=self.flat_param.device)
        self.full = made.requires_grad_(any(wanted))
        self._bytes = made.numel() * made.element_size()
        self.is_whole, self._work = self._shares, None
        self._release()
        self.rest()

    @staticmethod
    def _padded(whole, size):
        if whole.numel() == size:
            return whole
        return ops.cat([whole, ops.zeros(size - whole.numel(), dtype=whole.dtype, device=whole.device)], 0)

    def _part_of(self, whole):
        return whole[self.first:self.first + self.part_size]

    def _release(self):
        if not self._shares:
            self.full.data.untyped_storage().resize_(0)
            self.is_whole = False

    def begin_unshard(self, waits=False):
        """Begin to gather the parts, so that the whole can be used; nothing if it is there or on its way."""
        if self.is_whole or self._work is not None:
            return
        # What was saved for the backward pass looks at this memory: it is filled again, unseen by counts of writes.
        whole = self.full.data
        whole.untyped_storage().resize_(self._bytes)
        part, number, runner = self.flat_param.detach().to(self.dtype), self.group.number, self.group.runner
        if not self.is_sharded:
            whole.copy_(part)
        elif waits:
            with modes.no_grad():
                ops.all_gather(part, number, out=whole)
        else:
            self._work = runner.begin(lambda: ops.all_gather(part, number, out=whole), like=part)
            return
        self.is_whole = True

    def unshard(self):
        """Gather the parts, so that the whole can be used."""
        self.begin_unshard(waits=True)
        if self._work is not None:
            work, self._work = self._work, None
            work.wait()
            self.is_whole = True

    def reshard(self):
        """Give the whole up; what was saved for the backward pass waits for it to be gathered again."""
        if self._work is not None:
            self.unshard()
        if self.is_whole:
            self._release()

    def use_views(self):
        """Have modules see the whole's pieces, through which gradients reach it."""
        parts = ops.split_with_sizes(self.full, self._sizes, 0)
        for piece, part in zip(self.pieces, parts):
            view = part.view(piece.shape)
            self._show(piece, view if piece.requires_grad else view.detach())

    @staticmethod
    def _show(piece, tensor):
        for module, name, _ in piece.places:
            module._parameters.pop(name, None)
            module.__dict__[name] = tensor

    def rest(self):
        """Have modules see what they do between passes: their own parameters, or pieces that cannot be read."""
        if not self.keeps_originals:
            with modes.no_grad():
                self.use_views()
            return
        for piece in self.pieces:
            piece.param.data = self.local(piece, self.flat_param.data)
            self.register(piece, piece.param)

    @staticmethod
    def register(piece, param):
        """Make a parameter of what modules see as a piece, in its place among theirs."""
        for module, name, names in piece.places:
            module.__dict__.pop(name, None)
            held = module._parameters
            held[name] = param
            for later in names[names.index(name) + 1:]:
                if later in held:
                    held[later] = held.pop(later)

    def local(self, piece, part):
        """Return this process's part of a piece: of the piece's shape where each process has all of it."""
        low, high = piece.within(self.first, self.first + self.part_size)
        found = part[low - self.first:high - self.first]
        return found if self.is_sharded else found.view(piece.shape)

    def gather(self, part):
        """Return the whole, without padding, of tensors as long as the parts."""
        part = part.detach()
        if not self.is_sharded:
            return part
        number = self.group.number
        with modes.no_grad():
            return ops.all_gather(part, number)[:self.numel]

    def take_part(self, whole):
        """Return this process's part of a whole without padding."""
        return self._part_of(self._padded(whole, sum(self._sizes)))

    def split(self, whole):
        """Return the pieces of a whole without padding, each in its shape."""
        parts = ops.split_with_sizes(whole, self._sizes[:-1], 0)
        return [part.view(piece.shape) for piece, part in zip(self.pieces, parts)]

    def accumulate(self, gradient):
        """Add a gradient of this process's part to those of the parameters."""
        if not self.keeps_originals:
            _add_gradient(self.flat_param, gradient)
            return
        for piece in self.pieces:
            local = self.local(piece, gradient)
            if piece.requires_grad and local.numel():
                _add_gradient(piece.param, local)


def _add_gradient(param, gradient):
    if param.grad is None:
        param.grad = gradient
    else:
        param.grad.detach().add_(gradient)
