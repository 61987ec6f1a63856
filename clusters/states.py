"""State machines of the fleet; docs/states.md shows the same tables in words."""

from core.states import machine

CLUSTER = machine(
    "cluster",
    held="scheduled provisioning cancelled",
    scheduled="provisioning cancelled",
    provisioning="ready failed draining",
    ready="draining",
    draining="releasing",
    releasing="released",
    failed="provisioning draining releasing",  # provisioning: staff start the set-up again
    released="",
    cancelled="held",  # paid late: held again if capacity is left
)

NODE = machine(
    "node",
    available="suspect cordoned draining maintenance failed retired",
    suspect="available cordoned draining failed",
    cordoned="available draining maintenance repair burn_in failed retired",
    draining="cordoned maintenance repair failed",
    maintenance="burn_in available failed",
    repair="burn_in failed retired",
    burn_in="available repair failed",
    failed="repair burn_in retired",
    retired="",
)

CLOSED = ("released", "cancelled")  # nothing waits here, and due_at is null
NODE_BROKEN = ("failed", "repair")  # what ran there did not fail by itself
LIVE = ("provisioning", "ready", "draining", "releasing", "failed")
