"""Operations by the names of their classes, as `keras.src.ops` has them: a function's class is made with it."""
from dragon.vm.keras.core.above import above
from dragon.vm.keras.core.naming import to_snake_case
from dragon.vm.keras.core.operation import find_operation


def __getattr__(name):
    found = find_operation(name) if name[:1].isupper() else None
    if found is None and name[:1].isupper():  # the second name of a function, as "Abs" is of what `abs` does
        found = getattr(getattr(above("ops"), to_snake_case(name), None), "operation", None)
    if found is None:
        raise AttributeError(f"keras.src.ops: no function's operation is called '{name}'", name=name)
    return found
