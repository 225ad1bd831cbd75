"""What files of ragged and sparse tensors need of files that stand upon them.

The package, which is read before any of its files, says how each is got.
"""
ragged_class = []  # `RaggedTensor`, for the functions that make one
sparse_math = []  # the module of what is done with sparse tensors, for their operators
compute = []  # reads what is computed with ragged tensors, once one of the classes is there; it teaches at its end
teach = []  # adds operators to the classes and tells functions of dense tensors of them; called once all are there
