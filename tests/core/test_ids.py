"""Ids: unique, sorted by time, fit for Kubernetes names."""

import re
import threading

from hypothesis import given
from hypothesis import strategies as st

from core import ids


def test_an_id_is_its_prefix_and_26_characters() -> None:
    assert re.fullmatch(rf"run_[{ids.ALPHABET}]{{26}}", ids.new("run"))


def test_later_ids_sort_later_and_none_comes_twice() -> None:
    made = [ids.new("x") for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_threads_share_the_order() -> None:
    made: list[list[str]] = [[] for _ in range(4)]

    def make(place: int) -> None:
        made[place].extend(ids.new("x") for _ in range(2_000))

    threads = [threading.Thread(target=make, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one == sorted(one) for one in made)
    assert len({name for one in made for name in one}) == 8_000


@given(st.sampled_from(["run", "job", "clu", "ckp"]))
def test_object_names_are_dns_labels_and_lead_back(prefix: str) -> None:
    public = ids.new(prefix)
    name = ids.object_name(public)
    assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", name)
    assert len(name) <= 40
    assert ids.object_name(name) == name
    assert ids.public_id(name) == public


def test_the_field_makes_its_own_ids_and_survives_migrations() -> None:
    field = ids.PublicIdField("run")
    assert str(field.get_default()).startswith("run_")
    assert field.max_length == 30
    _, _, args, kwargs = field.deconstruct()
    again = ids.PublicIdField(*args, **kwargs)
    assert again.deconstruct()[1:] == field.deconstruct()[1:]
