"""What is called at the beginning and end of trainings, epochs and batches."""
from dragon.vm.keras.callbacks.backup_and_restore import BackupAndRestore
from dragon.vm.keras.callbacks.callback import Callback
from dragon.vm.keras.callbacks.callback_list import CallbackList
from dragon.vm.keras.callbacks.csv_logger import CSVLogger
from dragon.vm.keras.callbacks.early_stopping import EarlyStopping
from dragon.vm.keras.callbacks.history import History
from dragon.vm.keras.callbacks.lambda_callback import LambdaCallback
from dragon.vm.keras.callbacks.learning_rate_scheduler import LearningRateScheduler
from dragon.vm.keras.callbacks.model_checkpoint import ModelCheckpoint
from dragon.vm.keras.callbacks.orbax_checkpoint import OrbaxCheckpoint
from dragon.vm.keras.callbacks.progbar_logger import ProgbarLogger
from dragon.vm.keras.callbacks.reduce_lr_on_plateau import ReduceLROnPlateau
from dragon.vm.keras.callbacks.remote_monitor import RemoteMonitor
from dragon.vm.keras.callbacks.swap_ema_weights import SwapEMAWeights
from dragon.vm.keras.callbacks.tensorboard import TensorBoard
from dragon.vm.keras.callbacks.terminate_on_nan import TerminateOnNaN
