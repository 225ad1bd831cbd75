"""Operations by the names of their classes, as `keras.src.ops` has them: a function's class is made with it."""
from dragon.vm.keras.core.operation import find_operation


def __getattr__(name):
    found = find_operation(name) if name[:1].isupper() else None
    if found is None:
        raise AttributeError(f"keras.src.ops: no function's operation is called '{name}'", name=name)
    return found
