"""`tf.math`: functions of numbers, reductions and segments."""
import sys as _sys

from dragon.vm.guest import gather as _gather, lookup as _lookup
from dragon.vm.shared.arrays import reducing as _reducing
from dragon.vm.tensorflow.core.numbers import elementwise as _elementwise, special as _integrals
from dragon.vm.tensorflow.core.numbers.rankings import approx_max_k, approx_min_k  # noqa: F401
from dragon.vm.tensorflow.core.numbers.rows import fill as _fill
from dragon.vm.tensorflow.core.numbers.sequences import sobol_sample  # noqa: F401
from dragon.vm.tensorflow.core.numbers.special import betainc  # noqa: F401

_gather(globals(), _elementwise, _reducing)
special = type(_elementwise)(f"{__name__}.special", "`tf.math.special`: functions of physics.")
_sys.modules[special.__name__] = special  # pickles find its functions there
_fill(vars(special), """
bessel_j0 bessel_j0 r BesselJ0 the Bessel function of the first kind of order 0
bessel_j1 bessel_j1 r BesselJ1 the Bessel function of the first kind of order 1
bessel_y0 bessel_y0 r BesselY0 the Bessel function of the second kind of order 0
bessel_y1 bessel_y1 r BesselY1 the Bessel function of the second kind of order 1
""")
for _word in (word for word in vars(_elementwise) if word.startswith("bessel_")):
    setattr(special, _word, getattr(_elementwise, _word))
for _word in ("bessel_k0", "bessel_k0e", "bessel_k1", "bessel_k1e", "dawsn", "expint", "fresnel_cos", "fresnel_sin",
              "spence"):
    setattr(special, _word, getattr(_integrals, _word))
special.__getattr__ = _lookup(vars(special))[0]
