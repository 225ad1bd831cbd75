"""keras.random: numbers that follow from seeds, and generators of seeds."""
from dragon.vm.keras.random.functions import (
    beta, binomial, categorical, dropout, gamma, normal, randint, shuffle, truncated_normal, uniform)
from dragon.vm.keras.random.seed_generator import SeedGenerator
