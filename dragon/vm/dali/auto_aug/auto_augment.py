"""AutoAugment: each sample goes through one of a policy's short chains."""
import functools as _functools

from dragon.io.pictures.policies import POLICIES as _POLICIES
from dragon.vm.dali.auto_aug import augmentations as _a
from dragon.vm.dali.auto_aug.core import Policy
from dragon.vm.dali.auto_aug.suites import suite as _suite
from dragon.vm.dali.auto_aug.suites import translations as _translations
from dragon.vm.dali.core import augmenting as _augmenting
from dragon.vm.dali.core.refusals import got as _got


def auto_augment(data, policy_name="image_net", shape=None, fill_value=128, interp_type=None, max_translate_abs=None,
                 max_translate_rel=None, seed=None):
    """Augment pictures by one of the known policies.

    Parameters
    ----------
    data : DataNode
        The pictures, bytes in layout HWC.
    policy_name : str, optional, default="image_net"
        "image_net", "reduced_image_net", "cifar10", "reduced_cifar10" or "svhn".
    shape, fill_value, interp_type, max_translate_abs, max_translate_rel, seed : optional
        As for `rand_augment.rand_augment`.

    """
    makers = {"image_net": get_image_net_policy, "reduced_image_net": get_reduced_image_net_policy,
              "cifar10": get_reduced_cifar10_policy, "reduced_cifar10": get_reduced_cifar10_policy,
              "svhn": get_svhn_policy}
    if policy_name not in makers:
        raise Exception(_got("auto_augment", f"policy_name={policy_name!r}", f"one of {sorted(makers)}"))
    if policy_name == "reduced_image_net":
        if max_translate_abs is not None or max_translate_rel is not None:
            raise Exception(_got("auto_augment", "max_translate_* for reduced_image_net", "none: it shifts nothing"))
        policy = get_reduced_image_net_policy()
    else:
        policy = makers[policy_name](shape is not None, max_translate_abs, max_translate_rel)
    return apply_auto_augment(policy, data, seed, shape=shape, fill_value=fill_value, interp_type=interp_type)


auto_augment_image_net = _functools.partial(auto_augment, policy_name="image_net")


def apply_auto_augment(policy, data, seed=None, **kwargs):
    """Augment pictures by a policy.

    Parameters
    ----------
    policy : Policy
        The policy.
    data : DataNode
        The pictures.
    seed : int, optional
        Where random numbers start from.
    kwargs : Any
        Arguments of the augmentations.

    """
    if not policy.sub_policies:
        raise Exception(_got("apply_auto_augment", "a policy without sub_policies", "at least one"))

    def run(chain):
        made = data
        for augmentation, probability, magnitude in chain:
            sign = _augmenting.coin(0.5, seed)
            made = _augmenting.pick(_augmenting.coin(1 - probability, seed), [_functools.partial(
                augmentation, made, magnitude_bin=(magnitude or 0, sign),
                num_magnitude_bins=policy.num_magnitude_bins, **kwargs), lambda made=made: made])
        return made
    chosen = _augmenting.below(len(policy.sub_policies), seed)
    return _augmenting.pick(chosen, [_functools.partial(run, chain) for chain in policy.sub_policies])


def _policy(name, table, use_shape=False, max_translate_abs=None, max_translate_rel=None):
    """Return the policy of a table; what is never done is left out of it."""
    shifts = _translations(use_shape, 250, 1.0, max_translate_abs, max_translate_rel)
    known = {one.name: one for one in _suite(shifts, 0.3, 30, (0.1, 1.9), False, (0, 4), (0, 256))}

    def find(operation):
        named = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in operation)[1:]
        return known.get(named) or getattr(_a, named)
    return Policy(name, 11, [[(find(operation), probability, magnitude) for operation, probability, magnitude in chain
                              if probability] for chain in _POLICIES[table]])


def _maker(function, name, table, pictures):
    """Return the function that returns the policy of a table."""
    def make(use_shape=False, max_translate_abs=None, max_translate_rel=None):
        return _policy(name, table, use_shape, max_translate_abs, max_translate_rel)
    make.__name__ = make.__qualname__ = function
    make.__doc__ = f"""Return the policy for {pictures}.

    Parameters
    ----------
    use_shape : bool, optional, default=False
        Whether shifts are parts of the picture.
    max_translate_abs, max_translate_rel : optional
        As for `rand_augment.rand_augment`.

    """
    return make


get_image_net_policy = _maker("get_image_net_policy", "ImageNetPolicy", "imagenet whole", "ImageNet")
get_reduced_cifar10_policy = _maker("get_reduced_cifar10_policy", "ReducedCifar10Policy", "cifar10", "CIFAR-10")
get_svhn_policy = _maker("get_svhn_policy", "SvhnPolicy", "svhn", "SVHN")


def get_reduced_image_net_policy():
    """Return the policy that was found on a part of ImageNet."""
    return _policy("ReducedImageNetPolicy", "imagenet")
