"""Files."""
from dragon.vm.dali.experimental.dynamic.io import file
