"""Plans of last time: what has not changed is not sent again."""
from dragon.vm.torch.distributed.checkpoint.planner import SavePlan, SavePlanner

_UNCHANGED = SavePlan([], usable=False)


def send_if_new(planner, plan):
    """Return a process's plan for the coordinator; a mark if it is that of last time."""
    if SavePlanner._cached_save_plan.get(planner._cached_plans_key) == plan:
        return _UNCHANGED
    planner._pending_local_plan = plan  # kept once the coordinator has taken it
    return plan


def join_plans(planner, all_plans):
    """Return (what is sent to the processes, their plans, the list of contents): on the coordinator."""
    key = planner._cached_plans_key
    known = SavePlanner._cached_all_plans.get(key)
    before = SavePlanner._cached_global_plan.get(key)
    if known is not None and len(known) == len(all_plans):
        if not any(plan.usable for plan in all_plans):
            return [_UNCHANGED] * len(all_plans), before, SavePlanner._cached_metadata[key]
        all_plans = [new if new.usable else old for old, new in zip(known, all_plans)]
    else:
        before = None
    plans, metadata = planner._create_global_plan(all_plans)
    SavePlanner._cached_all_plans[key] = all_plans
    SavePlanner._cached_global_plan[key] = plans
    SavePlanner._cached_metadata[key] = metadata
    if before is None:
        return plans, plans, metadata
    return [_UNCHANGED if new == old else new for old, new in zip(before, plans)], plans, metadata


def finish(planner, plan):
    """Return a process's plan, of what the coordinator has sent."""
    key = planner._cached_plans_key
    if plan.usable:
        SavePlanner._cached_final_save_plan[key] = plan
    if planner._pending_local_plan is not None:
        SavePlanner._cached_save_plan[key] = planner._pending_local_plan
        planner._pending_local_plan = None
    return SavePlanner._cached_final_save_plan[key]
