"""Functions of functions: gradients, Jacobians, maps over batches: `torch.func`."""
from dragon.vm.torch._functorch.apis import grad, grad_and_value, vmap  # noqa: F401
from dragon.vm.torch._functorch.eager_transforms import (debug_unwrap, functionalize, hessian, jacfwd,  # noqa: F401
                                                         jacrev, jvp, linearize, vjp)
from dragon.vm.torch._functorch.einops import rearrange  # noqa: F401
from dragon.vm.torch._functorch.functional_call import (functional_call,  # noqa: F401
                                                        replace_all_batch_norm_modules_, stack_module_state)
