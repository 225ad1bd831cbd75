"""Random numbers of CUDA devices: those of the process's one stream, whichever device they are made on."""
from dragon.vm.torch.core.functions import random as _random
from dragon.vm.torch.core.nvidia.presence import device_count, is_available, number, require


def get_rng_state(device="cuda"):
    """Return the state of the stream as a tensor of bytes."""
    require("get_rng_state")
    number(device)
    return _random.get_rng_state()


def get_rng_state_all():
    """Return the state of the stream for each device."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state(new_state, device="cuda"):
    """Go on from a state of the stream; nothing without a device."""
    if is_available():
        number(device)
        _random.set_rng_state(new_state)


def set_rng_state_all(new_states):
    """Go on from the states of all devices, the last of which the stream takes."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed):
    """Start the stream anew from a number; nothing without a device."""
    if is_available():
        _random.manual_seed(int(seed))


def manual_seed_all(seed):
    """Start the stream anew from a number; nothing without a device."""
    manual_seed(seed)


def seed():
    """Start the stream anew from a number nobody can foresee; nothing without a device."""
    if is_available():
        _random.seed()


def seed_all():
    """Start the stream anew from a number nobody can foresee; nothing without a device."""
    seed()


def initial_seed():
    """Return the number that the stream began from."""
    require("initial_seed")
    return _random.initial_seed()
