"""Small models that learn from large ones."""
from dragon.vm.keras.distillation.distiller import Distiller
from dragon.vm.keras.distillation.losses import DistillationLoss, FeatureDistillation, LogitsDistillation
