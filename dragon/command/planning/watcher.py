"""What a dry run writes down of a step: calls and where they stand, what is kept for the backward pass, gradients."""
import gc
import time
import weakref

from dragon import _C
from dragon.command.planning.answers import storage_of
from dragon.core.profile import start_profile, stop_profile
from dragon.vm.torch.autograd.graph import saved_tensors_hooks
from dragon.vm.torch.nn.modules import _hooks
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.optim import optimizer as optimizers

Base = _C.Tensor  # of any face


class Enough(BaseException):
    """Ends a program whose step has been seen."""


class Kept:
    """What is kept for the backward pass, for as long as it is."""

    def __init__(self, tensor, watcher, storage):
        self.tensor, self._watcher, self._storage = tensor, watcher, storage

    def __del__(self):
        self._watcher.let_go(self._storage)


class Watcher:
    """What is written down of a program's steps; the last whole one counts.

    Parameters
    ----------
    steps : int
        After how many steps of the first optimizer the program ends.

    """

    def __init__(self, steps):
        self.limit, self.steps = steps, 0
        self.paths, self._numbers, self._names = [""], {}, {}
        self.kinds, self._stack = [""], [0]
        self.first, self.optimizers, self.step = None, weakref.WeakSet(), None
        self._params, self._counts, self._phase = {}, {}, "forward"
        self._begin()

    # --- the places where the program is heard

    def start(self):
        """Hear the program from now on."""
        _hooks.register_module_forward_pre_hook(self._enter)
        _hooks.register_module_forward_hook(self._leave, always_call=True)
        optimizers.register_optimizer_step_pre_hook(self._before_step)
        optimizers.register_optimizer_step_post_hook(self._after_step)
        for owner in (optimizers.Optimizer, Module):
            owner.zero_grad = self._hearing_zero(owner.zero_grad)
        self._hooks = saved_tensors_hooks(self._pack, lambda kept: kept.tensor)
        self._hooks.__enter__()
        start_profile(True, self._where)

    def _where(self):
        return f"{self._stack[-1]} {self._phase}"

    def _number(self, module):
        """Return the number of a module's path, from the outermost one that is called."""
        if len(self._stack) == 1 and self._names.get(id(module), ("", None))[1] is None:
            label = type(module).__name__
            taken = sum(path.partition("/")[0].partition("#")[0] == label and "/" not in path for path in self.paths)
            label += f"#{taken + 1}" if taken else ""
            for name, child in module.named_modules():
                self._names.setdefault(id(child), (f"{label}/{name}" if name else label, weakref.ref(child)))
        path, known = self._names.get(id(module), ("", None))
        if known is None or known() is not module:  # one that is no part of the module around it
            path = f"{self.paths[self._stack[-1]]}/{type(module).__name__}"
        if path not in self._numbers:
            self._numbers[path] = len(self.paths)
            self.paths.append(path)
            self.kinds.append(type(module).__name__)
        return self._numbers[path]

    def _enter(self, module, args):
        self._stack.append(self._number(module))

    def _leave(self, module, args, output):
        if len(self._stack) > 1:
            number = self._stack.pop()
            if _is_recording():
                self.calls.append((number, sum(_bytes_of(one) for one in _tensors_of(output)), time.monotonic_ns()))

    def _hearing_zero(self, zero_grad):
        def hearing(owner, *args, **kwargs):
            made = zero_grad(owner, *args, **kwargs)
            self._note_gradients()
            return made
        return hearing

    def _pack(self, tensor):
        storage = storage_of(tensor)
        count = self._counts.get(storage, 0)
        self._counts[storage] = count + 1
        if not count:
            size = _memory_of(tensor)
            self._sizes[storage] = size
            self.changes.append((time.monotonic_ns(), "saved", size, storage, self._stack[-1], tuple(tensor.shape)))
        return Kept(tensor, self, storage)

    def let_go(self, storage):
        """Note that nothing of a piece of memory is kept any more."""
        self._counts[storage] -= 1
        if not self._counts[storage]:
            del self._counts[storage]
            if storage in self._sizes:
                self.changes.append((time.monotonic_ns(), "saved", -self._sizes.pop(storage), storage, 0, ()))

    # --- steps

    def _begin(self):
        self.calls, self.changes, self._sizes, self.began = [], [], {}, time.monotonic_ns()
        self._held = dict.fromkeys(map(id, self._params), 0)

    def _before_step(self, optimizer, args, kwargs):
        self.optimizers.add(optimizer)
        self.first = self.first or weakref.ref(optimizer)
        self._phase = "update"
        for group in optimizer.param_groups:
            for param in group["params"]:
                if id(param) not in self._params:
                    self._params[id(param)] = param
                    if param.requires_grad:
                        param.register_post_accumulate_grad_hook(self._on_gradient)

    def _after_step(self, optimizer, args, kwargs):
        self._phase = "forward"
        if optimizer is not self.first():
            return
        self.steps += 1
        self._finish()
        if self.steps >= self.limit:
            raise Enough
        self._begin()
        self._scan()
        start_profile(True, self._where)

    def _on_gradient(self, param):
        if not self._held.get(id(param)):
            self._held[id(param)] = size = _memory_of(param.grad)
            self.changes.append((time.monotonic_ns(), "gradients", size, 0, 0, ()))

    def _note_gradients(self):
        for key, param in self._params.items():
            size = 0 if param.grad is None else _memory_of(param.grad)
            if size != self._held.get(key, 0):
                self.changes.append((time.monotonic_ns(), "gradients", size - self._held.get(key, 0), 0, 0, ()))
                self._held[key] = size

    def _scan(self):
        """Count what is there between two steps, and hear when what the program holds goes."""
        sizes = self.persistent()
        known = set().union(*({storage for storage in part} for part in sizes.values()))
        self.others, self._heard = 0, []
        for held in gc.get_objects():
            if isinstance(held, Base) and not isinstance(held, Module):
                storage = _storage(held)
                if storage is not None and storage not in known:
                    known.add(storage)
                    size = _memory_of(held)
                    self.others += size
                    self._heard.append(weakref.ref(held, self._going(size, self.changes)))
        for key, param in self._params.items():
            self._held[key] = 0 if param.grad is None else _memory_of(param.grad)
        self.gradients_before = sum(self._held.values())

    @staticmethod
    def _going(size, changes):
        return lambda _: changes.append((time.monotonic_ns(), "others", -size, 0, 0, ()))

    def persistent(self):
        """Return {kind: {storage: bytes}} of what outlives a step."""
        found = {"parameters": {}, "gradients": {}, "state": {}, "buffers": {}}
        for param in self._params.values():
            found["parameters"][storage_of(param)] = _memory_of(param)
            if param.grad is not None:
                found["gradients"][storage_of(param.grad)] = _memory_of(param.grad)
        for optimizer in self.optimizers:
            for held in _tensors_of(list(optimizer.state.values())):
                if (storage := _storage(held)) is not None:
                    found["state"][storage] = _memory_of(held)
        for _, known in self._names.values():
            if (module := known()) is not None:
                for tensor in [*module._buffers.values(), *module._parameters.values()]:
                    if tensor is not None and (storage := _storage(tensor)) not in found["parameters"]:
                        found["buffers"][storage] = _memory_of(tensor)
        return found

    def _lasting(self):
        """Return the pieces of memory that are there in all steps; gradients lie where something else has lain."""
        found = self.persistent()
        return {*found["parameters"], *found["buffers"]}

    def _finish(self):
        events, ended = stop_profile(), time.monotonic_ns()
        self._note_gradients()
        self.step = {"events": events, "calls": self.calls, "changes": list(self.changes), "began": self.began,
                     "ended": ended, "persistent": {kind: sum(part.values()) for kind, part in
                                                    self.persistent().items()},
                     "others": getattr(self, "others", 0),
                     "gradients before": getattr(self, "gradients_before", 0),
                     "storages": self._lasting()}

    def parameters(self):
        """Return [[name, shape, bytes, bytes of the optimizer's state, whether it is trained]]."""
        names = {}
        for above, known in self._names.values():
            if (module := known()) is not None:
                for name, param in module._parameters.items():
                    full = f"{above}{'.' if '/' in above else '/'}{name}"
                    if param is not None and len(full) > len(names.get(id(param), "")):
                        names[id(param)] = full
        state = {}
        for optimizer in self.optimizers:
            for param, held in optimizer.state.items():
                state[id(param)] = sum(_bytes_of(one) for one in _tensors_of(held))
        return [[names.get(key, f"parameter {place}"), list(param.shape), _bytes_of(param), state.get(key, 0),
                 bool(param.requires_grad)] for place, (key, param) in enumerate(self._params.items())]


def _is_recording():
    from dragon.core import modes
    return modes.is_recording()


def _storage(tensor):
    try:
        return storage_of(tensor)
    except (RuntimeError, NotImplementedError, TypeError, ValueError):  # of parts, or without memory
        return None


def _bytes_of(tensor):
    return tensor.numel() * tensor.element_size()


def _memory_of(tensor):
    """Return the bytes of all memory that a tensor keeps alive."""
    try:
        return tensor.storage_nbytes
    except (RuntimeError, NotImplementedError, AttributeError):  # of parts
        return 0


def _tensors_of(tree):
    if isinstance(tree, Base):
        yield tree
    elif isinstance(tree, dict):
        for one in tree.values():
            yield from _tensors_of(one)
    elif isinstance(tree, (list, tuple, set)):
        for one in tree:
            yield from _tensors_of(one)
