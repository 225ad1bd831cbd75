"""Generated functions of operators (`gen_math_ops.add_v2`), which are `tf.raw_ops` in other letters."""


def raw_function(name):
    """Return the function of an operator by its name in small letters, or None.

    Parameters
    ----------
    name : str
        Such as "matrix_band_part".

    """
    from dragon.vm.tensorflow import raw_ops
    wanted = name.replace("_", "").lower()
    found = next((known for known in dir(raw_ops) if known[0].isupper() and known.lower() == wanted), None)
    if found is None:
        return None
    run = getattr(raw_ops, found)
    words = [word for word in run.__signature__.parameters]

    def function(*args, **kwargs):
        if len(args) > len(words):
            raise TypeError(f"{name}: got {len(args)} arguments, expected at most {len(words)}")
        return run(**dict(zip(words, args)), **kwargs)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Run TensorFlow's operator {found}."
    return function
