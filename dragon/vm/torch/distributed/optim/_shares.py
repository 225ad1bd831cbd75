"""Which process steps which parameters, and copies of states."""
from dragon.vm.torch.core.tensor import Tensor


def share_out(groups, count):
    """Return an optimizer's groups for each of some processes: the largest parameter goes to who has least so far."""
    parts, sizes = [[] for _ in range(count)], [0] * count
    for group in groups:
        held = [[] for _ in range(count)]
        for param in sorted(group["params"], key=Tensor.numel, reverse=True):
            rank = sizes.index(min(sizes))
            held[rank].append(param)
            sizes[rank] += param.numel()
        options = {key: value for key, value in group.items() if key != "params"}
        for part, params in zip(parts, held):
            part.append({"params": params, **options})
    return parts


def copy_to_cpu(state):
    """Return a state with copies of its tensors, on the CPU."""
    if isinstance(state, Tensor):
        return state.detach().cpu().clone()
    if isinstance(state, dict):
        return {key: copy_to_cpu(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(map(copy_to_cpu, state))
    return state
