"""Who does something: passed to every service that writes, kept on every audit row."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Actor:
    """The doer of a write. ``kind`` is user, token, staff or system; ``label`` is what a timeline shows."""

    kind: str
    label: str
    user_id: str | None = None
    token_id: str | None = None
    request_id: str = ""
    ip: str = ""

    @classmethod
    def system(cls, label: str = "system") -> "Actor":
        """Return the portal itself: the beat, a worker, the watcher."""
        return cls(kind="system", label=label)
