"""keras.wrappers: models as estimators of scikit-learn, which is imported when one is asked for."""
import importlib

from dragon.vm.guest import lookup

_NAMES = ("SKLearnClassifier", "SKLearnRegressor", "SKLearnTransformer")
_find, _ = lookup(globals())


def __getattr__(name):
    if name not in _NAMES:
        return _find(name)
    try:
        home = importlib.import_module(f"{__name__}.estimators")
    except ImportError as error:
        raise ImportError(f"{name} requires `scikit-learn` to be installed. Run `pip install scikit-learn` to install "
                          f"it. Received: {error}") from error
    return getattr(home, name)


def __dir__():
    return list(_NAMES)
