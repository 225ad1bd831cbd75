"""Datasets that stand behind one another; the ready-made ones of PyTorch are not here."""
