"""The workshop of `experimental.dynamic`: tensors and batches that operators work on as they are called."""
