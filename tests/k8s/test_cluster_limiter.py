"""The limit in front of an API server."""

from k8s.cluster.limiter import Limiter


def test_a_burst_passes_and_the_rest_comes_at_the_rate() -> None:
    now, slept = [0.0], []

    def sleep(seconds: float) -> None:
        slept.append(round(seconds, 6))
        now[0] += seconds

    limiter = Limiter(10, 3, clock=lambda: now[0], sleep=sleep)
    for _ in range(5):
        limiter.take()
    assert slept == [0.1, 0.1]
    now[0] += 60
    for _ in range(3):
        limiter.take()
    assert slept == [0.1, 0.1], "a rest fills it up, but no higher than the burst"
    limiter.take()
    assert slept == [0.1, 0.1, 0.1]
