"""ONNX's operators: what each operator of the engine is in them.

A row is `operator = expression`. A name that begins with a capital letter is a node, and Python's operators are nodes,
too. A name that is no argument is the writer's (`dragon.onnx.writer`): another operator of the engine, which is written
by its own row, `cast`, `truth`, `constant`, `full`, `out`, `opset`, `refuse`, or a function in `dragon/onnx` that is
entered with `row_function`, for what takes more than an expression. An operator without a row has a function there that
is entered with `maps`.

Tensors of an operator that works on elements have the dtype that it computes in, but for those that a row casts.

A row that is one call of a node, or is so under a condition, can be read backwards: what the node is in the engine's
operators (`readings`).
"""
