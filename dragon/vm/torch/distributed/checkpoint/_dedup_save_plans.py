"""What several processes would write is written by one."""
import dataclasses


def dedup_save_plans(all_plans, save_to_lowest_rank=False):
    """Return plans in which each thing is written once, by the process that has least to write so far.

    Parameters
    ----------
    all_plans : List[SavePlan]
        The plan of each process.
    save_to_lowest_rank : bool, optional, default=False
        Whether the first of those that have it writes it.

    Returns
    -------
    List[SavePlan]
        The plans.

    """
    owners, sizes = {}, {}
    for rank, plan in enumerate(all_plans):
        for item in plan.items:
            if rank not in owners.setdefault(item.index, []):
                owners[item.index].append(rank)
            sizes[item.index] = item.tensor_storage_size() or 1
    loads = [0] * len(all_plans)
    for index, ranks in owners.items():
        chosen = ranks[0] if save_to_lowest_rank else min(ranks, key=loads.__getitem__)
        loads[chosen] += sizes[index]
        owners[index] = chosen
    return [dataclasses.replace(plan, items=[item for item in plan.items if owners[item.index] == rank])
            for rank, plan in enumerate(all_plans)]
