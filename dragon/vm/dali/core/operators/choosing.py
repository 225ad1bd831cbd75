"""Parameters by the number of their magnitude, as automatic augmentations choose them."""
import numpy as np

from dragon.vm.dali.core.schema import Laid, operator


@operator("_parameter")
def parameter(magnitude, negated, *, table):
    """Return what a table of two rows, plain and negated, has for a magnitude."""
    return Laid(np.asarray(table[int(negated)][int(magnitude)]), "")


@operator("_policy_entry")
def policy_entry(chosen, *, numbers):
    """Return the number that a list has in a place."""
    return Laid(np.asarray(numbers[int(chosen)]), "")
