"""The rooms of the guests: each speaks the language of another framework, on the engine of this one."""
from dragon.vm.alias import install
