"""Under which names users know the classes of this floor."""
from dragon.vm.alias import FINDER


def known_as(module):
    """Return a decorator for classes that users find in a module of TensorFlow, and programs recognize by its name.

    Parameters
    ----------
    module : str
        Where the class is found, such as "tensorflow.data".

    Returns
    -------
    Callable
        Has the class say so, by the name that modules of the guest carry in this process.

    """
    guest, point, rest = module.partition(".")
    name = FINDER.name_of(guest) + point + rest

    def decorate(kind):
        kind.__module__ = name
        return kind
    return decorate
