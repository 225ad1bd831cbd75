"""Numbers that change from call to call without another graph: learning rates, as a rule."""
from dragon.core.python_operators import ARITHMETIC, COMPARISONS


class SymbolicNumber(float):
    """A number that the graph reads again before each run, and that notices when Python code looks at it."""

    symbol = -1
    is_looked_at = False


def _looking(name):
    plain = getattr(float, name)

    def look(self, *args):
        self.is_looked_at = True
        return plain(self, *args)
    return look


_LOOKS = "divmod rdivmod neg pos abs hash float int bool round trunc floor ceil repr format".split()
for _name in (*ARITHMETIC, *(f"r{name}" for name in ARITHMETIC), *COMPARISONS, *_LOOKS):
    setattr(SymbolicNumber, f"__{_name}__", _looking(f"__{_name}__"))
