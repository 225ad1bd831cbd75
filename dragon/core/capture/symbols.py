"""Numbers that change from call to call without another graph: learning rates, as a rule."""


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


_LOOKS = """
    add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod divmod rdivmod pow rpow neg pos abs
    lt le gt ge eq ne hash float int bool round trunc floor ceil repr format
"""
for _name in _LOOKS.split():
    setattr(SymbolicNumber, f"__{_name}__", _looking(f"__{_name}__"))
