"""The parts that all optimizers share: their variables, the rate, and all that happens to gradients before the rule."""

from dragon.core import warnings
from dragon.core.capture.settings import is_capturing
from dragon.core.modes import no_grad
from dragon.distributed.gradients import means
from dragon.distributed.group import default_group
from dragon.vm.keras.core import scopes
from dragon.vm.keras.core.config import floatx
from dragon.vm.keras.core.configuration import Configured
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.naming import auto_name
from dragon.vm.keras.core.registry import serialize, with_objects
from dragon.vm.keras.core.variable import Variable
from dragon.vm.keras.optimizers.decay import WeightDecay
from dragon.vm.keras.optimizers.gradients import clip
from dragon.vm.keras.optimizers.memory import numbers_of
from dragon.vm.keras.optimizers.schedules.schedule import LearningRateSchedule
from dragon.vm.keras.optimizers.state import State
from dragon.vm.shared import strategies
from dragon.vm.shared.tensors.slices import whole_all
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.tensors.variable import settle

# Arguments that every optimizer has, in the order of configurations.
SHARED = {"weight_decay": None, "clipnorm": None, "global_clipnorm": None, "clipvalue": None, "use_ema": False,
          "ema_momentum": 0.99, "ema_overwrite_frequency": None, "loss_scale_factor": None,
          "gradient_accumulation_steps": None}


class Optimizer(State, WeightDecay, Configured):
    """Base of optimizers: subclasses write `build` and `update_step(gradient, variable, learning_rate)`.

    Parameters
    ----------
    learning_rate : Union[float, LearningRateSchedule, Callable]
        The rate, a schedule, or a function without arguments.
    weight_decay : Optional[float], optional
        What share of a variable, times the rate, is taken away at each step.
    clipnorm : Optional[float], optional
        The most the norm of each gradient may be.
    clipvalue : Optional[float], optional
        The most the magnitude of each number of a gradient may be.
    global_clipnorm : Optional[float], optional
        The most the norm of all gradients together may be.
    use_ema : bool, optional, default=False
        Keep a moving average of the variables, which takes their place in the end.
    ema_momentum : float, optional, default=0.99
        What share of the average is kept at each step.
    ema_overwrite_frequency : Optional[int], optional
        After how many steps the average takes the variables' place; only in the end by default.
    loss_scale_factor : Optional[float], optional
        What `scale_loss` multiplies with, and gradients are divided by.
    gradient_accumulation_steps : Optional[int], optional
        How many steps' gradients are averaged before the variables are updated.
    name : str, optional
        What it is called in its variables' paths.

    """

    _clips = True  # whether gradients are still to be clipped; those of replicas are before they are added up

    def __init__(self, learning_rate, weight_decay=None, clipnorm=None, clipvalue=None, global_clipnorm=None,
                 use_ema=False, ema_momentum=0.99, ema_overwrite_frequency=None, loss_scale_factor=None,
                 gradient_accumulation_steps=None, name=None, **kwargs):
        if kwargs.pop("decay", None) is not None:
            warnings.warn("Argument `decay` is no longer supported and will be ignored.")
        if kwargs:
            raise ValueError(f"Argument(s) not recognized: {kwargs}")
        self._begin(name or auto_name(type(self).__name__))
        self.weight_decay, self.loss_scale_factor = weight_decay, loss_scale_factor
        self.clipnorm, self.clipvalue, self.global_clipnorm = clipnorm, clipvalue, global_clipnorm
        self.use_ema, self.ema_momentum, self.ema_overwrite_frequency = use_ema, ema_momentum, ema_overwrite_frequency
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self._check_arguments()
        self._gate = None  # what writes depend on, while some steps shall write nothing
        self._iterations = self._new_number(0, "iteration", "int")
        if not callable(learning_rate):
            if not isinstance(learning_rate, float):
                raise ValueError("Argument `learning_rate` should be float, or an instance of LearningRateSchedule, or "
                                 "a callable (that takes in the current iteration value and returns the corresponding "
                                 f"learning rate value). Received instead: learning_rate={learning_rate}")
            learning_rate = self._new_number(learning_rate, "learning_rate", floatx())
        self._learning_rate = learning_rate

    def _check_arguments(self):
        steps, frequency = self.gradient_accumulation_steps, self.ema_overwrite_frequency
        if steps and not steps >= 2:
            raise ValueError("`gradient_accumulation_steps` must be an integer >= 2. Received: "
                             f"gradient_accumulation_steps={steps}")
        if self.use_ema and (self.ema_momentum > 1 or self.ema_momentum < 0):
            raise ValueError(f"`ema_momentum` must be in the range [0, 1]. Received: ema_momentum={self.ema_momentum}")
        if self.use_ema and frequency and (not isinstance(frequency, int) or frequency < 1):
            raise ValueError("`ema_overwrite_frequency` must be an integer >= 1 or None. Received: "
                             f"ema_overwrite_frequency={frequency}")
        if sum(x is not None for x in (self.clipnorm, self.clipvalue, self.global_clipnorm)) > 1:
            raise ValueError("Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                             f"clipnorm={self.clipnorm}, clipvalue={self.clipvalue}, "
                             f"global_clipnorm={self.global_clipnorm}")

    # --- the rate and the count of steps

    @property
    def iterations(self):
        """How many updates there were: a variable, or a tensor if gradients are accumulated."""
        steps = self.gradient_accumulation_steps
        return ops.floor_divide(numbers_of(self._iterations), steps) if steps else self._iterations

    @property
    def learning_rate(self):
        """The rate of now: a variable that can be assigned to, or the tensor that a schedule returns."""
        return self._get_current_learning_rate()

    @learning_rate.setter
    def learning_rate(self, learning_rate):
        before = self._learning_rate
        if callable(learning_rate) and not isinstance(learning_rate, Variable):
            self._learning_rate = learning_rate
            if isinstance(before, Variable):
                self._untrack_variable(before)
        elif isinstance(before, Variable):
            before.assign(learning_rate)
        else:
            raise TypeError("This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` "
                            "constructor argument, hence its learning rate is not settable. If you need the learning "
                            "rate to be settable, you should instantiate the optimizer with a float `learning_rate` "
                            f"argument. Received: learning_rate={learning_rate}")

    def _get_current_learning_rate(self):
        rate = self._learning_rate
        if isinstance(rate, LearningRateSchedule):
            return rate(self._iterations)
        return rate() if callable(rate) and not isinstance(rate, Variable) else rate

    # --- steps

    def update_step(self, gradient, variable, learning_rate):
        """Update one variable; subclasses write it.

        Parameters
        ----------
        learning_rate : Union[Variable, Tensor]
            The rate of now.

        """
        raise NotImplementedError(f"{type(self).__name__}: an optimizer needs a method update_step")

    def apply_gradients(self, grads_and_vars):
        """Update variables, given as pairs of a gradient and a variable; return the count of steps."""
        grads, trainable_variables = zip(*grads_and_vars)
        self.apply(grads, trainable_variables)
        return self._iterations

    def apply(self, grads, trainable_variables=None):
        """Update variables.

        Parameters
        ----------
        grads : Sequence[Optional[Tensor]]
            Gradients.
        trainable_variables : Optional[Sequence[Variable]], optional
            Their variables; those that the optimizer was built for by default.

        """
        if len(grads) == 0:
            return
        grads = whole_all(grads)
        variables = self._variables_of(grads, trainable_variables)
        with scopes.name_scope(self.name, caller=self), no_grad():
            grads, variables = self._filter_empty_gradients(grads, variables)
            with strategies.by_parts():
                grads, variables = self._overwrite_variables_directly_with_gradients(grads, variables)
            if grads:
                if self.loss_scale_factor is not None:
                    grads = [gradient / self.loss_scale_factor for gradient in grads]
                if (group := default_group()) is not None:
                    grads = means(grads, group)
                with strategies.by_parts():
                    self._backend_apply_gradients(grads, variables)
                for variable in variables:
                    if getattr(variable, "constraint", None) is not None:
                        self.assign(variable, variable.constraint(variable))
            self.assign_add(self._iterations, 1)

    def _variables_of(self, grads, variables):
        """Return the variables of gradients; the first time, make their states."""
        if variables is not None:
            variables = list(variables)
            if not self.built:
                with scopes.name_scope(self.name, caller=self):
                    self.build(variables)
                self.built = True
                settle()
            self._check_variables_are_known(variables)
            return variables
        if not self.built:
            raise ValueError("When passing `grads` without `variables`, the optimizer must already be built on a list "
                             "of variables. Call `optimizer.build(trainable_variables)` first. "
                             f"Received: {len(grads)} gradients without variables")
        if len(grads) != len(self._trainable_variables):
            raise ValueError("When passing `grads` as a list of gradient tensors, the gradients must match "
                             f"`optimizer.variables` one-to-one. Received a list of {len(grads)} gradients, but the "
                             f"optimizer is tracking {len(self._trainable_variables)} trainable variables.")
        return list(self._trainable_variables)

    def _filter_empty_gradients(self, grads, variables):
        """Return gradients that are there, and their variables."""
        pairs = [(gradient, variable) for gradient, variable in zip(grads, variables) if gradient is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable. Received: "
                             f"{[self._path(variable) for variable in variables]}")
        if len(pairs) < len(variables):
            missing = [self._path(variable) for gradient, variable in zip(grads, variables) if gradient is None]
            warnings.warn(f"Gradients do not exist for variables {missing} when minimizing the loss. If using "
                          "`model.compile()`, did you forget to provide a `loss` argument?")
        return [gradient for gradient, _ in pairs], [variable for _, variable in pairs]

    def _backend_apply_gradients(self, grads, variables):
        steps = self.gradient_accumulation_steps
        if steps:
            self._accumulate(grads, variables, steps)
        else:
            self._update_all(grads, variables)
        if self.use_ema:
            self._update_model_variables_moving_average(self._trainable_variables)
            if self.ema_overwrite_frequency:
                due = ops.remainder(self.iterations + 1, self.ema_overwrite_frequency) == 0
                with self._writing_if(due):
                    self._overwrite_model_variables_with_average_value(self._trainable_variables)

    def _update_all(self, grads, variables):
        """Update variables; of several replicas, once, with the sums of their gradients."""
        replica = strategies.local.replica
        if replica is None:
            self._update(grads, variables)
            return

        is_one = strategies.as_one()  # what is clipped are the sums, then

        def update(parts):
            object.__setattr__(self, "_clips", is_one)
            try:
                self._update(replica.memory.sum_all(parts, variables), variables)
            finally:
                object.__setattr__(self, "_clips", True)
            return [None] * len(parts)
        replica.merge(update, grads if is_one else self._clip_gradients(grads, variables))

    def _update(self, grads, variables):
        grads = self._clip_gradients(grads, variables)
        self._apply_weight_decay(variables)
        self._backend_update_step(grads, variables, self.learning_rate)

    def _accumulate(self, grads, variables, steps):
        """Add gradients to their sums; where those are complete, update with the mean and begin new sums."""
        sums = [self._accumulated_gradients[self._get_variable_index(variable)] for variable in variables]
        grads = [gradient + numbers_of(total) for gradient, total in zip(grads, sums)]
        due = ops.remainder(numbers_of(self._iterations) + 1, steps) == 0
        if is_capturing():
            with self._writing_if(due):
                self._update_all([gradient / steps for gradient in grads], variables)
            grads = [ops.where(due, 0, gradient) for gradient in grads]
        elif bool(due):
            self._update_all([gradient / steps for gradient in grads], variables)
            grads = [ops.zeros_like(gradient) for gradient in grads]
        for total, gradient in zip(sums, grads):
            self.assign(total, gradient)

    def _backend_update_step(self, grads, variables, learning_rate):
        for gradient, variable in zip(grads, variables):
            self.update_step(gradient, variable, learning_rate)

    def _clip_gradients(self, grads, variables=()):
        if not self._clips:
            return grads
        return clip(grads, self.clipnorm, self.global_clipnorm, self.clipvalue, variables)

    def stateless_apply(self, optimizer_variables, grads, trainable_variables):
        """Refuse: with TensorFlow's tongue, optimizers change their variables."""
        raise ValueError("stateless_apply is not supported with the TensorFlow backend. "
                         f"Received: {len(grads)} gradients")

    def scale_loss(self, loss):
        """Return a loss times the factor that gradients will be divided by."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    # --- averages of variables

    def _update_model_variables_moving_average(self, variables):
        kept = ops.cast(convert_to_tensor(self.iterations) != 0, "float32") * self.ema_momentum
        for variable, average in zip(variables, self._model_variables_moving_average):
            if average is not None:
                momentum = ops.cast(kept, average.dtype)
                self.assign(average, momentum * numbers_of(average) + (1 - momentum) * numbers_of(variable))

    def _overwrite_model_variables_with_average_value(self, variables):
        averages = self._model_variables_moving_average
        if len(variables) != len(averages):
            raise ValueError(f"The length of model variables ({len(variables)}) to override does not match the length "
                             f"of model variables stored in the optimizer ({len(averages)}). Please check if the "
                             "optimizer was called on your model.")
        for variable, average in zip(variables, averages):
            if average is not None:
                self.assign(variable, average)

    def finalize_variable_values(self, var_list):
        """Put averages in the place of variables, if they are kept.

        Parameters
        ----------
        var_list : Sequence[Variable]
            The variables.

        """
        if self.use_ema:
            with strategies.by_parts():
                self._overwrite_model_variables_with_average_value(var_list)

    # --- configuration

    def get_config(self):
        """Return the arguments that make the same optimizer again."""
        rate = self._learning_rate
        if isinstance(rate, Variable):
            rate = float(rate)
        elif callable(rate):
            rate = serialize(rate)
        return {"name": self.name, "learning_rate": rate, **{name: getattr(self, name) for name in SHARED}}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Return the optimizer that `get_config` described. ..."""
        is_schedule = isinstance(config.get("learning_rate"), dict)
        return cls(**with_objects(config, "learning_rate" if is_schedule else "", custom_objects))
