"""torch.distributed.checkpoint.state_dict beside PyTorch's: states by unwrapped names, taken and given back."""
import pytest
import torch
import torch.distributed.checkpoint.state_dict as theirs

from dragon.vm import torch as dt
from dragon.vm.torch.distributed.checkpoint import state_dict as ours

BOTH = ((dt, ours), (torch, theirs))


def plain(value):
    """Return a state as plain values."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def make(t, optimizer="Adam", **options):
    """Return a model with one frozen parameter, and its optimizer."""
    t.manual_seed(3)
    model = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3), t.nn.Linear(3, 1))
    model[0].bias.requires_grad_(False)
    model[1].eval()
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return model, getattr(t.optim, optimizer)(learning, lr=0.1, **options)


def same(act):
    """Return what an act gives under both, the plain values of which are alike."""
    told = []
    for t, library in BOTH:
        try:
            told.append(plain(act(t, library)))
        except Exception as error:
            told.append((type(error).__name__, str(error)[:60]))
    assert told[0] == told[1]
    return told[0]


@pytest.mark.parametrize("options", [{}, {"full_state_dict": True, "cpu_offload": True},
                                     {"ignore_frozen_params": True}, {"broadcast_from_rank0": True}])
def test_states_of_models(options):
    same(lambda t, s: s.get_model_state_dict(make(t)[0], options=s.StateDictOptions(**options)))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_states_of_parts_of_models():
    def part(t, s, **options):
        model = make(t)[0]
        return s.get_model_state_dict(model, submodules={model[2]}, options=s.StateDictOptions(**options))
    for word in (True, False):
        assert len(same(lambda t, s: part(t, s, keep_submodule_prefixes=word))) == 2


@pytest.mark.parametrize("optimizer, options", [("Adam", {}), ("SGD", {}), ("SGD", {"momentum": 0.9}),
                                                ("AdamW", {"amsgrad": True})])
@pytest.mark.parametrize("flat", [False, True])
def test_states_of_optimizers_come_and_go(optimizer, options, flat):
    def act(t, s):
        model, first = make(t, optimizer, **options)
        for step in range(2):
            model(t.ones(4, 2) * t.arange(4)[:, None]).sum().backward()
            first.step()
            first.zero_grad()
        how = s.StateDictOptions(flatten_optimizer_state_dict=flat)
        states = s.get_state_dict(model, first, options=how)
        told = plain(states[1])
        other, second = make(t, optimizer, **options)
        second.param_groups[0]["lr"] = 7.0
        s.set_state_dict(other, second, model_state_dict=states[0], optim_state_dict=states[1], options=how)
        return told, plain(second.state_dict()), plain(other.state_dict())
    for mine, genuine in zip(*(act(t, s) for t, s in BOTH)):
        compare(mine, genuine)


def compare(mine, genuine):
    """Compare plain values to a last digit."""
    if isinstance(genuine, dict):
        assert set(mine) == set(genuine)
        for key in genuine:
            compare(mine[key], genuine[key])
    elif isinstance(genuine, list) and genuine and not isinstance(genuine[0], str):
        assert len(mine) == len(genuine)
        for pair in zip(mine, genuine):
            compare(*pair)
    else:
        assert mine == (pytest.approx(genuine, rel=1e-4, abs=1e-6) if isinstance(genuine, float) else genuine)


def test_an_optimizer_that_has_not_begun_gets_its_first_state():
    state = same(lambda t, s: s.get_optimizer_state_dict(*make(t)))
    assert state["state"]["0.weight"]["step"] == 1 and state["param_groups"][0]["lr"] == 0.1


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("strict", [False, True])
def test_names_that_are_missing_or_too_many(full, strict):
    def act(t, s):
        model = make(t)[0]
        state = model.state_dict()
        state["more"] = t.ones(1)
        state["2.bias"] = t.full((1,), 5.0)
        del state["0.weight"]
        told = s.set_model_state_dict(model, state, options=s.StateDictOptions(full_state_dict=full, strict=strict))
        return [list(told.missing_keys), list(told.unexpected_keys), plain(model.state_dict())]
    if full:  # PyTorch asks for a group of processes then
        if strict:
            with pytest.raises(RuntimeError, match="more"):
                act(dt, ours)
        else:
            missing, more, state = act(dt, ours)
            assert (missing, more, state["2.bias"]) == ([], ["more"], [5.0])
    else:
        same(act)


def test_wrapped_models_have_the_names_of_bare_ones():
    def act(t, s):
        model = make(t)[0]
        wrapped = t.compile(model, backend="eager")
        state = s.get_model_state_dict(wrapped)
        names = list(state)
        state["2.bias"] = t.full((1,), 5.0)
        s.set_model_state_dict(wrapped, state)
        return [names, model[2].bias]
    assert same(act)[1] == [5.0]


def test_models_without_memory_take_what_is_loaded():
    with dt.device("meta"):
        model = dt.nn.Linear(2, 1)
    ours.set_model_state_dict(model, {"weight": dt.ones(1, 2), "bias": dt.zeros(1)},
                              options=ours.StateDictOptions(full_state_dict=True))
    assert model(dt.ones(1, 2)).tolist() == [[2.0]]


def test_a_state_that_lacks_a_parameter():
    def act(t, s):
        model, optimizer = make(t)
        state = s.get_optimizer_state_dict(model, optimizer)
        del state["state"]["2.weight"]
        s.set_optimizer_state_dict(model, optimizer, state)
    assert "Missing optimizer state for parameter '2.weight'" in same(act)[1]
