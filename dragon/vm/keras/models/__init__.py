"""Models: graphs, lists and subclasses that can be trained."""
from dragon.vm.keras.models.cloning import clone_model
from dragon.vm.keras.models.model import Model, model_from_json
from dragon.vm.keras.models.sequential import Sequential


def __getattr__(name):
    if name in ("load_model", "save_model"):
        from dragon.vm.keras import saving
        return getattr(saving, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
