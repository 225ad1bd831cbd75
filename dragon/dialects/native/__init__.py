"""Dragon's own API: which namespaces show which of the engine's operators.

`name : math` says that `dragon.math` shows an operator, `name : nn.functional` that `dragon.nn.functional` does, and
`name : math nn.functional` that both do. Every operator is in `dragon.ops`.
"""
