"""What `torch.func` is made of, under the names that libraries import."""
from dragon.vm.torch.core.missing import module_getattr

_SUBMODULES = frozenset("apis eager_transforms einops functional_call vmap".split())
__getattr__ = module_getattr("torch._functorch", globals(), _SUBMODULES)
