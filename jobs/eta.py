"""When a run ends by the pace that its log shows: a range that narrows as more of it has been seen."""

from dataclasses import dataclass
from datetime import datetime, timedelta

MARGIN_LEAST, MARGIN_MOST = 0.1, 0.5


@dataclass(frozen=True, slots=True)
class End:
    """The range in which a run is expected to end, if it neither fails nor is stopped."""

    earliest: datetime
    latest: datetime


def expected_end(
    *, begun: int, step: int | None, total: int | None, started_at: datetime | None, now: datetime
) -> End | None:
    """Return when the steps from ``step`` to ``total`` are done at the mean pace since the start.

    ``begun`` is the step of the checkpoint that the run started from, else 0. None while nothing can be said.
    The margin goes from half of what is left, at the first step, down to a tenth of it.
    """
    if step is None or total is None or started_at is None or not begun < step <= total or now < started_at:
        return None
    done, left = step - begun, total - step
    seconds = (now - started_at).total_seconds() * left / done
    margin = MARGIN_LEAST + (MARGIN_MOST - MARGIN_LEAST) * left / (done + left)
    try:
        return End(
            now + timedelta(seconds=seconds * (1 - margin)), now + timedelta(seconds=seconds * (1 + margin))
        )
    except OverflowError:
        return None
