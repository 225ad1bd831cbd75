"""What libraries use of `tensorflow.python` beside public names: helpers of TensorFlow's own code."""
from dragon.vm.tensorflow.core.inner import contexts, decorators, nests, tensors
from dragon.vm.tensorflow.core.inner.raw import raw_function  # noqa: F401

MEMBERS = {**contexts.MEMBERS, **decorators.MEMBERS, **nests.MEMBERS, **tensors.MEMBERS}
