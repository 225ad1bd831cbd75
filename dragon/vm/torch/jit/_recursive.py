"""`torch.jit._recursive`: the types that modules were scripted with, which libraries have it forget."""
from dragon.vm.torch.core.scripting.scripts import python_scripts


class ConcreteTypeStore:
    """The types of modules: those that look alike share one."""

    @property
    def type_store(self):
        """dict: the types by the class of their modules; what is taken out is compiled anew when it is next needed."""
        return python_scripts().modules


concrete_type_store = ConcreteTypeStore()
