"""keras.wrappers: models as estimators of scikit-learn, which is imported when one is asked for."""
import importlib

_NAMES = ("SKLearnClassifier", "SKLearnRegressor", "SKLearnTransformer")


def __getattr__(name):
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        home = importlib.import_module(f"{__name__}.estimators")
    except ImportError as error:
        raise ImportError(f"{name} requires `scikit-learn` to be installed. Run `pip install scikit-learn` to install "
                          f"it. Received: {error}") from error
    return getattr(home, name)


def __dir__():
    return list(_NAMES)
