"""What is called at the beginning and end of trainings, epochs and batches; each imported when it is asked for."""
import importlib

# Where names live.
PLACES = {
    "BackupAndRestore": "backup_and_restore", "Callback": "callback", "CallbackList": "callback_list",
    "CSVLogger": "csv_logger", "EarlyStopping": "early_stopping", "History": "history",
    "LambdaCallback": "lambda_callback", "LearningRateScheduler": "learning_rate_scheduler",
    "ModelCheckpoint": "model_checkpoint", "OrbaxCheckpoint": "orbax_checkpoint", "ProgbarLogger": "progbar_logger",
    "ReduceLROnPlateau": "reduce_lr_on_plateau", "RemoteMonitor": "remote_monitor",
    "SwapEMAWeights": "swap_ema_weights", "TensorBoard": "tensorboard", "TerminateOnNaN": "terminate_on_nan",
}


def __getattr__(name):
    if name not in PLACES:
        raise AttributeError(f"module 'keras.callbacks' has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{PLACES[name]}"), name)
    return found


def __dir__():
    return sorted(PLACES)
