"""Contexts that scripts enter."""
from typing import Any

from dragon.vm import torch


class no_grad:
    """Record no gradients within."""

    def __init__(self) -> None:
        self.previous = False

    def __enter__(self) -> None:
        self.previous = torch.is_grad_enabled()
        torch.set_grad_enabled(False)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        torch.set_grad_enabled(self.previous)


class enable_grad:
    """Record gradients within."""

    def __init__(self) -> None:
        self.previous = False

    def __enter__(self) -> None:
        self.previous = torch.is_grad_enabled()
        torch.set_grad_enabled(True)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        torch.set_grad_enabled(self.previous)
