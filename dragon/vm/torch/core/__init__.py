"""The workshop behind `dragon.vm.torch`: what its public modules are made of."""
