"""What goes into the state of a wrapped module, and how it comes back."""
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.distributed.fsdp import _summon
from dragon.vm.torch.distributed.fsdp.api import StateDictType

_WRAPPED = "_fsdp_wrapped_module."


class ModelStates:
    """What `FullyShardedDataParallel` does about the model's state: names are those of the module unwrapped."""

    _is_summoned = False

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """Return the state of the module, as `state_dict_type` has it; all processes call this.

        Parameters
        ----------
        destination : dict, optional
            What it goes into.
        prefix : str, optional
            Put before all names.
        keep_vars : bool, optional, default=False
            Accepted: tensors of a state have no history here.

        Returns
        -------
        Dict[str, Any]
            The state.

        """
        if args:
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args):])
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        made = self._collect(destination, prefix)
        for hook in self._state_dict_hooks.values():
            found = hook(self, made, prefix, made._metadata.get(prefix[:-1], {}))
            made = made if found is None else found
        return made

    def _collect(self, destination, prefix):
        module, kind = self._fsdp_wrapped_module, self._state_dict_type
        if kind is StateDictType.LOCAL_STATE_DICT:
            self._require_parts()
        if self._unit is None or kind is StateDictType.LOCAL_STATE_DICT:
            return module.state_dict(destination=destination, prefix=prefix)
        before = set(destination or ())
        with _summon.whole([self], writes_back=False):
            made = module.state_dict(destination=destination, prefix=prefix)
            own = {f"{prefix}{name}" for name in self._own_names()}
            for key in [key for key in made if key not in before and key in own]:
                made[key] = self._entry(made[key], kind)
        if getattr(self._state_dict_config, "rank0_only", False) and self.rank:
            for key in [key for key in made if key not in before]:
                del made[key]
        return made

    def _own_names(self):
        """Return the names, in the wrapped module's state, of this one's parameters, with all that share them."""
        held = {id(module._parameters[name]) for piece in self._handle.pieces for module, name, _ in piece.places}
        return [name.replace(_WRAPPED, "").replace("_checkpoint_wrapped_module.", "") for name, param in
                self._fsdp_wrapped_module.named_parameters(remove_duplicate=False) if id(param) in held]

    def _entry(self, value, kind):
        """Return a whole parameter as a state has it."""
        if kind is StateDictType.SHARDED_STATE_DICT:
            from dragon.vm.torch.distributed.fsdp._distributed_parts import to_part
            return to_part(value, self)
        return value.detach().clone()

    def _require_parts(self):
        if self._unit is not None and not self._handle.is_sharded:
            raise RuntimeError("``local_state_dict`` can only be used when parameters are flatten and sharded.")

    def _watch_loading(self):
        """Have parameters be whole while a state is loaded."""
        self._loading = None
        self._register_load_state_dict_pre_hook(self._before_loading)
        self.register_load_state_dict_post_hook(type(self)._after_loading)

    def _before_loading(self, state, prefix, *_):
        for key in [key for key in state if key.startswith(prefix)]:
            rest = key[len(prefix):]
            if not rest.startswith(_WRAPPED):
                state[f"{prefix}{_WRAPPED}{rest}"] = state.pop(key)
        if self._state_dict_type is StateDictType.LOCAL_STATE_DICT:
            self._require_parts()
        elif self._unit is not None:
            if self._state_dict_type is StateDictType.SHARDED_STATE_DICT:
                for key, value in state.items():
                    if key.startswith(prefix) and isinstance(value, Tensor) and hasattr(value, "full_tensor"):
                        state[key] = value.full_tensor()
            self._loading = _summon.whole([self], writes_back=True)
            self._loading.__enter__()

    @staticmethod
    def _after_loading(module, incompatible):
        loading, module._loading = module._loading, None
        if loading is not None:
            loading.__exit__(None, None, None)
        for names in incompatible:
            names[:] = [name.replace(_WRAPPED, "") for name in names]
