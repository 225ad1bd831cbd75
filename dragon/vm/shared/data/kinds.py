"""The kinds of datasets by name, for the files that they are made of.

`kinds.Map` is a class that stands upon `Dataset`, and `Dataset.map` makes one: the package, which knows the file of
each kind and is read before any of its files, hands down how they are found.
"""
find = []


def __getattr__(name):
    kind = globals()[name] = find[0](name)
    return kind
