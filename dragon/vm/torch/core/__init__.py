"""The workshop behind `dragon.vm.torch`: what its public modules are made of."""
from dragon.vm.docstrings import Words
from dragon.vm.guest import FINISHED
from dragon.vm.torch.core.words import WORDS

FINISHED["torch"] = Words("torch", WORDS).finish
