"""PyTorch's operators: their signatures, and what each of them is.

`signatures.txt`, and `foreach_signatures.txt` of lists of tensors, are read off an installed PyTorch. The other tables
are families of rows (`dragon.dialects.rows`): an operator without a row is the function of PyTorch's API, or the
method, that has its name.

`name = expression` says how an operator is computed: a bare function is an operator of the engine, `F` is
`torch.nn.functional`, and `python` is `dragon.vm.torch.core.aten`, for what takes more than an expression.
`name => expression` says what PyTorch's dispatcher takes an operator apart into before anybody sees it, and
`name ~> expression` what its table of decompositions does; there a bare function is another of PyTorch's operators.
`name : kind kind` says of what kinds one is, where that follows from nothing else.
"""
