"""Rules of the faces about their classes and switches, for guards; a file of its own, since it is always loaded."""


class Rules:
    """A face's knowledge of its own classes and switches.

    Attributes
    ----------
    always : dict
        Class -> attributes that are watched whether code names them or not.
    never : dict
        Class -> attributes that decide nothing.
    switches : list
        (name, function without arguments): what the function returns is watched.
    globals : list
        (name, dictionary, keys): switches that stand in a module.
    roots : set
        Classes of the library whose methods ask for no attribute that a user's class could have.

    """

    always, never, switches, globals, roots = {}, {}, [], [], {object}
