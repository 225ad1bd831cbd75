"""Automatic augmentation: AutoAugment, RandAugment, TrivialAugment."""
