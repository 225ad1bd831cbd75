"""Optimizers and schedules of the learning rate: `torch.optim`."""
from dragon.vm.torch.optim import lr_scheduler, swa_utils
from dragon.vm.torch.optim._adafactor import Adafactor
from dragon.vm.torch.optim._muon import Muon
from dragon.vm.torch.optim._stateless import swap_in_optimizer_params_and_state
from dragon.vm.torch.optim.adadelta import Adadelta
from dragon.vm.torch.optim.adagrad import Adagrad
from dragon.vm.torch.optim.adam import Adam
from dragon.vm.torch.optim.adamax import Adamax
from dragon.vm.torch.optim.adamw import AdamW
from dragon.vm.torch.optim.asgd import ASGD
from dragon.vm.torch.optim.lbfgs import LBFGS
from dragon.vm.torch.optim.nadam import NAdam
from dragon.vm.torch.optim.optimizer import Optimizer
from dragon.vm.torch.optim.radam import RAdam
from dragon.vm.torch.optim.rmsprop import RMSprop
from dragon.vm.torch.optim.rprop import Rprop
from dragon.vm.torch.optim.sgd import SGD
from dragon.vm.torch.optim.sparse_adam import SparseAdam
