"""TensorFlow's operators, as saved programs and `tf.raw_ops` name them: what each is in functions of its API.

A row is `operator = expression`, of the operator's inputs and attributes by the names that its line in
`signatures.txt` has. Inputs are tensors, lists of inputs are lists of tensors; within `number`, `numbers`, `text`,
`dtype_of` and `shape_of` they are what came, which may be integers on the host. An attribute that tells an input's
dtype is that dtype, `node` is the call itself. `tf` is the API, `ops` has the engine's operators; other names are
functions of `dragon/vm/tensorflow/core/saved_model`: those of `values.py`, and in `operators` those that are entered
with `row_function`. Operators of several results have a tuple of them.

An operator without a row has a function there that is entered with `operator`: control flow, state, and what computes
shapes on the host.

`signatures.txt` has a line for each operator: its name, inputs and attributes. `*` marks a list of inputs, `~T` and
`#N` name the attributes that tell an input's dtype and how many there are, `@` marks dtypes, `^` shapes, `a>b` an
attribute `b` that is called `a`. Behind `:` stands the type of an attribute without default. In braces stand the
dtypes, or values, that are taken, or the least number. Behind `>` stand the names of results, behind `>*` that of a
list of results, and `>0` says that there are none.
"""
