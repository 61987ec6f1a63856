"""The words that Kubernetes has for a pod in trouble, as reasons of ours."""

from jobs.reasons import Reason, reason

DETAIL_MAX = 300
# Reasons of kubelet, node lifecycle controller and scheduler: the node's doing, not the program's.
NODE_LOST = {"NodeLost", "NodeShutdown", "Shutdown", "NodeNotReady", "Terminated", "TerminationByKubelet"}
NODE_LOST |= {"DeletionByTaintManager", "DeletionByPodGC", "ContainerStatusUnknown", "Unknown"}
PREEMPTED = {"Preempting", "Preempted", "PreemptionByScheduler", "PreemptionByKubeScheduler"}
REFUSED = {"UnexpectedAdmissionError", "NodeAffinity", "OutOfcpu", "OutOfmemory", "OutOfnvidia.com/gpu"}
IMAGE_WAITS = {"ErrImagePull", "ImagePullBackOff", "RegistryUnavailable"}
IMAGE_HOPELESS = {"InvalidImageName", "ErrImageNeverPull", "ImageInspectError"}
IMAGE_HOPELESS_WORDS = ("not found", "manifest unknown", "unauthorized", "denied", "does not exist")
CONFIG_HOPELESS = {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
FETCH_TEMPORARY, FETCH_PERMANENT = 75, 78
FETCH_MARK = "berth fetch: "
LINK_GONE, LINK_FAILED = 66, 74
LINK_MARK = "berth link: "
_SIGNALS = {134: "aborted", 137: "killed", 139: "crashed", 143: "terminated"}


def weight(exit_code: int | None, cause: str) -> int:
    """Say how telling an end is, 0 most: the node's words, exit codes, aborts, signals from outside."""
    if cause in NODE_LOST | PREEMPTED | REFUSED | {"OOMKilled", "Evicted"}:
        return 0
    return {134: 2, 137: 3, 143: 3, None: 4, 0: 4}.get(exit_code, 1)


def ending(replica: str, exit_code: int | None, cause: str, message: str, *, ran: bool) -> Reason:
    """Return why a pod failed; ``ran``: its main container had started, so the code was there."""
    detail = _short(message) or cause
    if cause == "OOMKilled":
        return reason("out_of_memory", replica=replica)
    if cause == "Evicted":
        return reason("evicted", replica=replica, detail=detail)
    if cause in NODE_LOST:
        return reason("node_lost", replica=replica, detail=detail)
    if cause in PREEMPTED:
        return reason("preempted", replica=replica, detail=detail)
    if cause in REFUSED or cause.startswith("OutOf"):
        return reason("refused_by_node", replica=replica, detail=detail)
    if FETCH_MARK in message or (not ran and exit_code in (FETCH_TEMPORARY, FETCH_PERMANENT)):
        code = "code_unreachable" if exit_code == FETCH_TEMPORARY else "code_refused"
        return reason(code, detail=_short(message.rpartition(FETCH_MARK)[2]) or f"exit code {exit_code}")
    if LINK_MARK in message or (not ran and exit_code in (LINK_GONE, LINK_FAILED)):
        code = "checkpoint_gone" if exit_code == LINK_GONE else "checkpoint_not_linked"
        said = _short(message.rpartition(LINK_MARK)[2]) or f"exit code {exit_code}"
        return reason(code, replica=replica, detail=said)
    if exit_code in _SIGNALS:
        return reason(_SIGNALS[exit_code], replica=replica)
    if exit_code in (126, 127) or cause in ("StartError", "ContainerCannotRun"):
        return reason("not_executable", replica=replica, exit_code=_code(exit_code))
    if exit_code is None:
        return reason("failed", detail=detail or replica)
    return reason("exit_code", replica=replica, exit_code=exit_code)


def waiting(replica: str, cause: str, message: str) -> Reason | None:
    """Return why a pending pod waits, None for nothing worth saying."""
    if found := hopeless(replica, cause, message):
        return found
    if cause in IMAGE_WAITS:
        return reason("pulling_image", replica=replica, cause=cause)
    if cause == "Unschedulable":
        return reason("no_node", replica=replica, detail=_short(message))
    if cause == "PodInitializing":
        return reason("fetching_code", replica=replica)
    return None


def hopeless(replica: str, cause: str, message: str) -> Reason | None:
    """Return why a pending pod can never start, None while it may."""
    detail = _short(message)
    gone = cause in IMAGE_WAITS and any(words in message.lower() for words in IMAGE_HOPELESS_WORDS)
    if cause in IMAGE_HOPELESS or gone:
        return reason("image", replica=replica, cause=cause, detail=detail)
    if cause in CONFIG_HOPELESS:
        return reason("container_config", replica=replica, cause=cause, detail=detail)
    return None


def _short(message: str) -> str:
    text = " ".join(message.split())
    return text if len(text) <= DETAIL_MAX else text[: DETAIL_MAX - 1] + "…"


def _code(exit_code: int | None) -> int | str:
    return "?" if exit_code is None else exit_code
