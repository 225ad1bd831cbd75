"""Random numbers of CUDA devices: each device has a stream, whose state is a seed and an offset, as in PyTorch."""
from dragon import _C
from dragon.core.capture.side_effects import note
from dragon.core.random import current_generator
from dragon.vm.torch.core.functions.random import Generator, state_bytes, state_tensor
from dragon.vm.torch.core.nvidia.presence import device_count, is_available, number, require


def get_rng_state(device="cuda"):
    """Return the state of a device's stream as a tensor of 16 bytes: its seed and its offset."""
    require("get_rng_state")
    return state_tensor(current_generator().get_device_state(number(device)))


def get_rng_state_all():
    """Return the state of each device's stream."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state(new_state, device="cuda"):
    """Have a device go on from a state; nothing without a device."""
    if is_available():
        note("goes on from another state of a generator")
        current_generator().set_device_state(number(device), state_bytes(new_state))


def set_rng_state_all(new_states):
    """Have all devices go on from states, one for each."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed):
    """Start the stream of the current device anew from a number; nothing without a device."""
    seed = int(seed)
    if is_available():
        note("seeds a generator")
        current_generator().seed_device(number(), seed)


def manual_seed_all(seed):
    """Start the streams of all devices anew from a number; nothing without a device."""
    seed = int(seed)
    if is_available():
        note("seeds a generator")
        current_generator().seed_devices(seed)


def seed():
    """Start the stream of the current device anew from a number nobody can foresee; nothing without a device."""
    manual_seed(_C.Generator().seed())


def seed_all():
    """Start the streams of all devices anew from one number nobody can foresee; nothing without a device."""
    manual_seed_all(_C.Generator().seed())


def initial_seed():
    """Return the seed of the current device's stream."""
    require("initial_seed")
    return int.from_bytes(current_generator().get_device_state(number())[:8], "little")


def generators():
    """Return the generators of all devices, which draw from the streams that calls use by default."""
    found = []
    for index in range(device_count()):
        generator = Generator(f"cuda:{index}")
        generator.share(current_generator())
        found.append(generator)
    return tuple(found)
