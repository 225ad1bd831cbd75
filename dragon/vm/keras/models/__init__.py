"""Models: graphs, lists and subclasses that can be trained."""
from dragon.vm.guest import lookup
from dragon.vm.keras.models.cloning import clone_model
from dragon.vm.keras.models.model import Model, model_from_json
from dragon.vm.keras.models.sequential import Sequential

__getattr__, __dir__ = lookup(globals(), {"saving": "load_model save_model"})
