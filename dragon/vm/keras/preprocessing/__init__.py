"""keras.preprocessing: older homes of helpers that live in `keras.utils`."""
from dragon.vm.keras.preprocessing import image, sequence, text
from dragon.vm.keras.utils.image_dataset import image_dataset_from_directory
from dragon.vm.keras.utils.sequence import timeseries_dataset_from_array
from dragon.vm.keras.utils.text_dataset import text_dataset_from_directory
