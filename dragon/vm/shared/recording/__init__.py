"""Records of a computation: tapes, gradients of users, functions that are captured."""
