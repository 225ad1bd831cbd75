"""`tf.autograph.experimental`: marks for a rewriting that is not needed."""


def do_not_convert(func=None):
    """Return the function: nothing is rewritten."""
    return do_not_convert if func is None else func


def set_loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """Accept options of a loop; a number of iterations to stop after is refused."""
    if maximum_iterations is not None:
        raise NotImplementedError("tf.autograph.experimental.set_loop_options: maximum_iterations is not supported. "
                                  f"Received: maximum_iterations={maximum_iterations}")
