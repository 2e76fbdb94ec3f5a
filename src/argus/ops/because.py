"""What an incident means for what stands under it: as long as that is so, and what is left to say afterwards. Pure."""

from __future__ import annotations

from argus.core.events import Event
from argus.store.records import Incident

_HELD = ("dependency down", "infrastructure event")
"""The gates of what is not restarted because of something else."""
_TROUBLES = {
    "agent_death": ("died, and is respawned when it is back", "died, and its respawn waited"),
    "container_failure": ("failed while it was down", "failed while it was down"),
}
_ENDED = {
    "removed: shutdown_requested": "died, and was stopped by a person",
    "removed: stopped": "died, and was stopped by a person",
    "removed: removed by hand": "died, and was removed by a person",
    "removed: finished": "died, and its task was done",
    "it is alive": "was taken for dead, and was alive",
}
"""How a death was over, where its task did not go on."""
_HELD_BACK = ("down, and not restarted for itself", "was down with it, and was not restarted for itself")
_DOWN_BEFORE = ("down already, and not restarted for itself", "was down already, and was not restarted for itself")
_FOR_ITSELF = ("fell with it, and is handled for itself by now", "fell with it, and was handled for itself later")
_FOR_ITSELF_BEFORE = (
    "was down already, and is handled for itself by now",
    "was down already, and was handled for itself later",
)
_CAME = {
    "started": "waited, and was started",
    "failed": "waited, and could not be started",
    "stopped": "waited to be started, and was stopped by a person",
    "removed": "waited to be started, and was removed",
}
_GONE = {
    "stopped": "waited, and was stopped by a person",
    "removed": "waited, and was removed by a person",
    "finished": "waited, and has done its task",
    "died": "died while it waited",
    "unwatched": "waited, and is not watched any more",
    "cleaned": "waited, and was cleaned",
    "set_up_anew": "waited, and was set up anew",
    "not_up": "waited, and is not up any more",
}


def trouble(one: Incident, is_over: bool) -> str:
    """Of something with an incident of its own; `is_over`: what explains it."""
    ended = _ENDED.get(str(one.data.get("ended"))) if one.kind == "agent_death" else None
    if ended is not None:
        return ended
    now, then = _outage(one) if one.kind == "service_outage" else _TROUBLES.get(one.kind, ("", ""))
    # A service may be down for longer than what explained it.
    is_past = one.closed is not None or (is_over and one.kind != "service_outage")
    return then if is_past else now


def _outage(one: Incident) -> tuple[str, str]:
    is_held = one.data.get("gate") in _HELD
    if one.data.get("explainedBefore"):  # by something else: it did not fall with this
        return _DOWN_BEFORE if is_held else _FOR_ITSELF_BEFORE
    return _HELD_BACK if is_held else _FOR_ITSELF


def otherwise(event: Event) -> str:
    """Of a service that was down with it, and that something else explains by now. Empty: this says no such thing."""
    if event.type != "explained_otherwise":
        return ""
    if not event.data.get("explainedBy"):
        return "was down with it, and did not depend on it later"
    return f"was down with it, and then because of {event.data.get('root') or 'several that failed together'}"


def waiting(event: Event, is_over: bool) -> str:
    """Of who has none and stands still. The last such event says how it is; empty: this is none."""
    match event.type:
        case "dependency_lost":
            return "waited until it was back" if is_over else "waits until it is back"
        case "dependency_back" if event.data.get("is_back", True):
            return "waited until it was back"
        case "dependency_back":
            is_told = not event.data.get("environment")
            return f"waited, and {'was told that it need not any more' if is_told else 'does not need it any more'}"
        case "dependency_wait_ended":
            return _GONE.get(str(event.data.get("outcome")), "waits no longer")
        case "spawn_waits":
            return "waited to be started" if is_over else "is started when it is back"
        case "spawn_wait_ended":
            return _CAME.get(str(event.data.get("outcome")), "waited to be started")
    return ""
