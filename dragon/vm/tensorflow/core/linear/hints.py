"""What is known of matrices beforehand: hints of users, what they imply, and what holds for products."""
NAMES = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


def require(hint, wanted, message):
    """Return the hint that a kind of matrices implies, or raise a ValueError if the user says otherwise."""
    if hint is not None and bool(hint) is not wanted:
        raise ValueError(message)
    return wanted


def inherited(operator, given, reason):
    """Return the hints of an operator, or those that a user gives where it has none.

    Parameters
    ----------
    operator : LinearOperator
        What the new operator is made of.
    given : Dict[str, Optional[bool]]
        The user's hints.
    reason : str
        Why both must be the same, with the property in the place of {}.

    Returns
    -------
    Dict[str, Optional[bool]]
        The hints.

    """
    found = {}
    for name, hint in given.items():
        own = getattr(operator, name)
        if own is not None and hint is not None and own != hint:
            raise ValueError(f"{reason.format(name[3:].replace('_', '-'))} The operator's {name} is {own}, and the "
                             f"provided hint {hint}.")
        found[name] = hint if own is None else own
    return found


def of_all(operators, name, hint, what):
    """Return True where all operators have a property, else the user's hint; a hint of False must not contradict."""
    if not all(getattr(operator, name) for operator in operators):
        return hint
    if hint is False:
        raise ValueError(f"{what} of {name[3:].replace('_', '-')} operators is always {name[3:].replace('_', '-')}: "
                         f"got {name}=False")
    return True


def both_square(left, right):
    """Return whether a product is square, as far as it is known."""
    if left.is_square and right.is_square:
        return True
    if left.is_square is False and right.is_square is False:
        return left.range_dimension == right.domain_dimension
    return False if None not in (left.is_square, right.is_square) else None


def both_regular(left, right):
    """Return whether a product is regular, as far as it is known."""
    if left.is_non_singular is False or right.is_non_singular is False:
        return False
    return left.is_non_singular and right.is_non_singular


def of_commuting(left, right):
    """Return the hints of the product of matrices that commute.

    Parameters
    ----------
    left, right : LinearOperator
        The factors.

    Returns
    -------
    Dict[str, Optional[bool]]
        The hints.

    """
    adjoint = None
    if left.is_self_adjoint and right.is_self_adjoint:
        adjoint = True
    elif {left.is_self_adjoint, right.is_self_adjoint} == {True, False}:
        adjoint = False
    definite = all(side.is_positive_definite and side.is_self_adjoint for side in (left, right)) or None
    return {"is_non_singular": both_regular(left, right), "is_self_adjoint": adjoint,
            "is_positive_definite": definite, "is_square": True}


def of_product(left, right):
    """Return the hints of a product of which no more is known."""
    square = both_square(left, right)
    if square is False:
        return dict.fromkeys(NAMES, False)
    return {"is_non_singular": both_regular(left, right) if square else None, "is_self_adjoint": None,
            "is_positive_definite": None, "is_square": square}


def of(operator):
    """Return an operator's hints.

    Parameters
    ----------
    operator : LinearOperator
        The operator.

    Returns
    -------
    Dict[str, Optional[bool]]
        The hints.

    """
    return {name: getattr(operator, name) for name in NAMES}


REGULAR = {"is_non_singular": True, "is_self_adjoint": True, "is_positive_definite": True, "is_square": True}
# What is known of the lower triangle of a Cholesky decomposition.
TRIANGLE = {"is_non_singular": True, "is_self_adjoint": False, "is_positive_definite": None, "is_square": True}
