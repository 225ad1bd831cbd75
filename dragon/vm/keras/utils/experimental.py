"""`keras.utils.experimental`: data for workers that variables are served to."""
from dragon.vm.keras.trainers.serving import DatasetCreator  # noqa: F401
