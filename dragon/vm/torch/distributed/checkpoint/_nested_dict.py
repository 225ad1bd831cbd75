"""States in one level, and back."""
from dragon.vm.torch.distributed.checkpoint._traverse import set_element, traverse_state_dict


def flatten_state_dict(state_dict):
    """Return (a state in one level, the path of each of its names)."""
    flat, paths = {}, {}

    def enter(path, value):
        name = ".".join(map(str, path))
        if name in flat:
            raise ValueError(f"duplicated flatten key {name}: got it at {paths[name]} and at {path}, expected one")
        flat[name], paths[name] = value, path
    traverse_state_dict(state_dict, enter)
    return flat, paths


def unflatten_state_dict(state_dict, mapping):
    """Return a state in levels, of one in one level and its paths."""
    made = {}
    for name, value in state_dict.items():
        set_element(made, mapping[name], value)
    return made
