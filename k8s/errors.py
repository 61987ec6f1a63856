"""What can go wrong behind the fence, in our own words; `retryable` says whether to try again later."""

from typing import ClassVar, Literal

RefusedReason = Literal["invalid", "forbidden", "quota"]


class Error(Exception):
    """Base of all errors of a port."""

    retryable: ClassVar[bool] = False


class NotFound(Error):
    """The object, or the namespace that should hold it, is not there."""


class Conflict(Error):
    """Somebody else changed or holds the object, or one of that name is still being deleted."""

    retryable = True


class Gone(Error):
    """The resource version is too old to watch from: list again, then watch from the new one."""

    retryable = True


class Refused(Error):
    """The site understood and said no; the same request will be refused again."""

    def __init__(self, message: str, *, reason: RefusedReason = "invalid") -> None:
        super().__init__(message)
        self.reason: RefusedReason = reason


class UnknownKind(Refused):
    """The site does not serve this kind of object at all: its operator is not installed."""


class Unavailable(Error):
    """The site did not answer, answered with a fault of its own, or asked for patience."""

    retryable = True

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unauthorised(Unavailable):
    """The site does not accept our credentials: staff must renew them, nobody's object is at fault."""
