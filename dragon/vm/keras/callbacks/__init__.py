"""What is called at the beginning and end of trainings, epochs and batches; each imported when it is asked for."""
from dragon.vm.guest import lookup

__getattr__, __dir__ = lookup(globals(), {
    ".backup_and_restore": "BackupAndRestore",
    ".callback": "Callback",
    ".callback_list": "CallbackList",
    ".csv_logger": "CSVLogger",
    ".early_stopping": "EarlyStopping",
    ".history": "History",
    ".lambda_callback": "LambdaCallback",
    ".learning_rate_scheduler": "LearningRateScheduler",
    ".model_checkpoint": "ModelCheckpoint",
    ".orbax_checkpoint": "OrbaxCheckpoint",
    ".progbar_logger": "ProgbarLogger",
    ".reduce_lr_on_plateau": "ReduceLROnPlateau",
    ".remote_monitor": "RemoteMonitor",
    ".swap_ema_weights": "SwapEMAWeights",
    ".tensorboard": "TensorBoard",
    ".terminate_on_nan": "TerminateOnNaN",
})
