"""Initializers: what weights start with."""
from dragon.vm.keras.initializers.chance import (
    GlorotNormal, GlorotUniform, HeNormal, HeUniform, LecunNormal, LecunUniform, Orthogonal, RandomNormal,
    RandomUniform, TruncatedNormal, VarianceScaling)
from dragon.vm.keras.initializers.fixed import STFT, Constant, Identity, Ones, Zeros
from dragon.vm.keras.initializers.initializer import Initializer
from dragon.vm.keras.initializers.registry import REGISTRY

get, serialize, deserialize = REGISTRY.get, REGISTRY.serialize, REGISTRY.deserialize
IdentityInitializer = Identity
OrthogonalInitializer = Orthogonal
STFTInitializer = STFT
constant = Constant
glorot_normal = GlorotNormal
glorot_uniform = GlorotUniform
he_normal = HeNormal
he_uniform = HeUniform
identity = Identity
lecun_normal = LecunNormal
lecun_uniform = LecunUniform
ones = Ones
orthogonal = Orthogonal
random_normal = RandomNormal
random_uniform = RandomUniform
stft = STFT
truncated_normal = TruncatedNormal
variance_scaling = VarianceScaling
zeros = Zeros
