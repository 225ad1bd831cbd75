"""A sentence is told once, where a method is first defined; those that override it have it from there."""


def inherit_sentences(cls):
    """Give the methods and properties of a class that have no docstring that of what they override."""
    for name, member in vars(cls).items():
        if not name.startswith("_") and hasattr(member, "__get__") and member.__doc__ is None:
            member.__doc__ = getattr(super(cls, cls), name, None).__doc__
