"""`tf.compat.v1`: what programs of TensorFlow 2 use of TensorFlow 1.

Calls run at once, as they do in TensorFlow 2 unless a program says otherwise; graphs, sessions that run and what lives
in them are refused by name. Names are looked up in `core/first`, and in TensorFlow 2 where both have the same.
"""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.tensorflow.core import modules as _modules
from dragon.vm.tensorflow.core.first import places as _places
from dragon.vm.tensorflow.core.first.renamed import RENAMED as _RENAMED
from dragon.vm.tensorflow.version import COMPILER_VERSION, GIT_VERSION, VERSION  # noqa: F401

__version__ = VERSION
AUTO_REUSE = "AUTO_REUSE"
globals().update(_RENAMED[""])
_find, __dir__ = _lookup(globals(), _places.PLACES[""])
for _name in sorted(_places.PLACES):
    if _name:
        _modules.enter(f"compat.v1.{_name}", f"`tf.compat.v1.{_name}`.", _places.PLACES[_name], _RENAMED.get(_name))
for _name, _words in _places.ABSENT.items():
    _modules.enter(f"compat.v1.{_name}", _words, members=_places.refusing(_name, _words))


def __getattr__(name):
    if name in ("app", "flags"):
        return globals().setdefault(name, _places.absl(name))
    if name in ("keras", "initializers"):
        from dragon.vm import keras
        return keras if name == "keras" else keras.initializers
    if name == "layers":
        return _modules.enter("compat.v1.layers", "Refused by name.",
                              members=_places.refusing("layers", "use tf.keras.layers"))
    return _find(name)
