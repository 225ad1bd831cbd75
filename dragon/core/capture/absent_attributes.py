"""Attributes that a program looked up and that were absent: guards hold that they stay so."""
import types

from dragon.core.capture import code_names
from dragon.core.capture.structure import ABSENT, ANY
from dragon.core.capture.watched_state import DICT


class AbsentAttributes:
    """The part of a walk that looks at what objects, classes and modules lack."""

    def _add_absent(self):
        """Watch that no attribute comes to stand before the one that was found, or where one was asked for in vain."""
        inherited, named = {}, self._names | self._computed | {"forward"}
        asked = self._asked_by_kind()
        for place, kind, fields in self._instances:
            if kind not in inherited:
                known = set().union(*(base.__dict__ for base in kind.__mro__))
                wanted = named if _answers(kind) else named & known
                inherited[kind] = sorted((wanted | asked[kind]) - {"__class__", "__dict__"})
            self._absent(place, inherited[kind], fields)
            if self._all and not place.is_library:
                self._watch_keys(place, fields)
        for place, kind in self._classes:
            known = set().union(*(base.__dict__ for base in (*kind.__mro__[1:], *type(kind).__mro__[:-2])))
            wanted = named if _answers(kind) else named & known
            self._absent(place, sorted(wanted | asked.get(kind, self._asked_of_any)), kind.__dict__)

        for place, names in self._modules:
            self._absent(place, sorted(self._asked_of_any | (self._names if "__getattr__" in names else set())), names)

    @staticmethod
    def _watch_keys(place, fields):
        """Watch that an object gets no other attributes, since some code computes their names."""
        absent = {key for key, (mode, _) in zip(place.keys, place.checks) if mode == ABSENT}
        known = dict(zip(place.keys, zip(place.checks, place.names)))
        keys = list(fields)
        found = [known.get(key, ((ANY, None), f"{place.path}.{key}")) for key in keys]
        if absent.isdisjoint(keys):
            place.kind, place.keys[:] = DICT, keys
            place.checks[:], place.names[:] = [check for check, _ in found], [name for _, name in found]

    def _asked_by_kind(self):
        """Return {class: the names of attributes that some code may ask its instances for}."""
        own, claimed = {}, set()
        for kind in {kind for _, kind, _ in self._instances}:
            methods = {value.__code__ for base in kind.__mro__ for value in list(base.__dict__.values())
                       if isinstance(value, types.FunctionType)}
            claimed |= methods.intersection(self._asked_of_self)
            own[kind] = methods.intersection(self._asked_of_self)
        rest = [names for code, names in self._asked_of_self.items() if code not in claimed]
        of_any = self._asked_of_any.union(*rest)
        return {kind: of_any.union(*(self._asked_of_self[code] for code in found)) for kind, found in own.items()}

    def _absent(self, place, names, holder):
        for name in names:
            if name not in holder:
                self._put_absent(place, name, f"{place.path}.{name}")


def _answers(kind):
    """Return whether a class of the program's has an answer to attributes that are missing."""
    return any("__getattr__" in base.__dict__ and not code_names.is_library(base.__module__) for base in kind.__mro__)
