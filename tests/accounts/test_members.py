"""Members: invited by mail, accepted once, changed and removed by the right people; an owner stays."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts import tasks
from accounts.models import AuditEntry, Invitation, Member, Notification, Organisation, User
from tests.support import people

pytestmark = pytest.mark.django_db


def invite(client: Client, email: str = "new@berth.example", role: str = "developer") -> Any:
    return client.post(reverse("accounts:invite"), {"email": email, "role": role})


def link() -> str:
    """Return the path in the last message that was sent."""
    tasks.send_waiting_mail()
    found = re.search(r"http://127\.0\.0\.1:8000(/invitations/\S+)", str(outbox.outbox[-1].body))
    assert found is not None
    return found[1]


def test_an_invited_person_with_an_account_joins_once() -> None:
    owner, guest = people.member(people.organisation("Lab")), people.user("new@berth.example")
    assert invite(people.browser(owner)).status_code == 302
    address = link()
    row = Invitation.objects.get()
    assert address.rsplit("/", 1)[1] not in str(vars(row))
    client = Client()
    assert "Lab" in client.get(address).content.decode()
    client.force_login(guest)
    assert client.post(f"{address}/accept").status_code == 302
    member = Member.objects.get(user=guest)
    assert (member.organisation, member.role) == (owner.organisation, "developer")
    assert client.get(address).status_code == 404
    assert client.post(f"{address}/accept").status_code == 404
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    assert actions == ["member.invited", "member.joined"]
    assert Notification.objects.get().params["person"] == "new@berth.example"
    home = client.get(reverse("accounts:organisation")).content.decode()
    assert "Lab" in home


def test_somebody_new_signs_up_through_the_link_and_needs_no_second_message() -> None:
    owner = people.member(people.organisation("Lab"))
    invite(people.browser(owner), role="billing")
    client = Client()
    client.get(link())
    page = client.get(reverse("account_signup")).content.decode()
    assert 'name="organisation"' not in page
    form = {"email": "new@berth.example", "password1": people.PASSWORD, "password2": people.PASSWORD}
    answer = client.post(reverse("account_signup"), {**form, "name": "新人"})
    assert answer.status_code == 302
    member = Member.objects.get(user__email="new@berth.example")
    assert (member.organisation, member.role, member.user.name) == (owner.organisation, "billing", "新人")
    assert Organisation.objects.count() == 1
    assert client.get(reverse("accounts:organisation")).status_code == 200


@pytest.mark.parametrize("state", ["expired", "withdrawn", "replaced"])
def test_a_link_that_is_worthless_is_not_there(state: str) -> None:
    client = people.browser(people.member())
    invite(client)
    address = link()
    if state == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif state == "withdrawn":
        client.post(reverse("accounts:withdraw", args=[Invitation.objects.get().pk]))
    else:
        invite(client)
        assert link() != address
    assert Client().get(address).status_code == 404


def test_wrong_invitations_are_refused_with_a_sentence() -> None:
    owner = people.member()
    client = people.browser(owner)
    for email, role in (
        ("not an address", "viewer"),
        ("a@berth.example", "king"),
        (owner.user.email, "viewer"),
    ):
        answer = invite(client, email, role)
        assert answer.status_code == 422
        assert "errors" in answer.content.decode() or 'role="alert"' in answer.content.decode()
    assert not Invitation.objects.exists()


def test_only_an_owner_makes_touches_and_removes_owners() -> None:
    home = people.organisation()
    owner, admin = people.member(home, "owner"), people.member(home, "admin")
    client = people.browser(admin)
    assert invite(client, role="owner").status_code == 422
    assert client.post(reverse("accounts:member-role", args=[admin.pk]), {"role": "owner"}).status_code == 403
    assert (
        client.post(reverse("accounts:member-role", args=[owner.pk]), {"role": "viewer"}).status_code == 403
    )
    assert client.post(reverse("accounts:member-remove", args=[owner.pk])).status_code == 403
    owner.refresh_from_db()
    assert owner.role == "owner"


def test_the_last_owner_stays() -> None:
    home = people.organisation()
    owner = people.member(home, "owner")
    client = people.browser(owner)
    assert (
        client.post(reverse("accounts:member-role", args=[owner.pk]), {"role": "viewer"}).status_code == 409
    )
    answer = client.post(reverse("accounts:member-remove", args=[owner.pk]))
    assert answer.status_code == 409
    assert "at least one owner" in answer.content.decode()
    second = people.member(home, "viewer")
    client.post(reverse("accounts:member-role", args=[second.pk]), {"role": "owner"})
    assert client.post(reverse("accounts:member-remove", args=[owner.pk])).status_code == 302
    assert [m.pk for m in Member.objects.for_org(home)] == [second.pk]


def test_a_removed_member_loses_tokens_and_pages_at_once() -> None:
    home = people.organisation()
    owner, leaver = people.member(home), people.member(home, "developer")
    api, pages = people.api(leaver), people.browser(leaver)
    people.browser(owner).post(reverse("accounts:member-remove", args=[leaver.pk]))
    assert api.get("/api/v1/me").status_code == 401
    assert pages.get(reverse("accounts:organisation"))["Location"] == reverse("accounts:welcome")
    entry = AuditEntry.objects.get(action="member.removed")
    assert entry.before == {"email": leaver.user.email, "role": "developer"}


def test_anybody_may_leave() -> None:
    viewer = people.member(role="viewer")
    people.member(viewer.organisation)
    people.browser(viewer).post(reverse("accounts:member-remove", args=[viewer.pk]))
    assert not Member.objects.filter(pk=viewer.pk).exists()
    assert User.objects.filter(pk=viewer.user_id).exists()


def test_strangers_find_no_members_and_no_invitations() -> None:
    owner, stranger = people.member(), people.member()
    invite(people.browser(owner))
    client = people.browser(stranger)
    invitation = Invitation.objects.get()
    for address in (
        reverse("accounts:member-role", args=[owner.pk]),
        reverse("accounts:member-remove", args=[owner.pk]),
        reverse("accounts:withdraw", args=[invitation.pk]),
    ):
        assert client.post(address, {"role": "viewer"}).status_code == 404
    assert invitation.email not in client.get(reverse("accounts:members")).content.decode()


def test_a_person_has_one_role_in_each_of_several_organisations() -> None:
    first = people.member(people.organisation("First"), "owner")
    second = people.organisation("Second")
    people.member(second, "owner")
    Member.objects.create(organisation=second, user=first.user, role="viewer")
    client = people.browser(first)
    assert client.get(reverse("accounts:audit")).status_code == 200
    client.post(reverse("accounts:switch"), {"organisation": second.pk})
    assert client.get(reverse("accounts:audit")).status_code == 403
    assert people.browser(first).get(reverse("accounts:audit")).status_code == 403  # remembered


def test_staff_do_not_join(settings: Any) -> None:
    settings.STAFF_MFA = False
    invite(people.browser(people.member()))
    address = link()
    client = Client()
    client.force_login(people.staff())
    assert client.post(f"{address}/accept").status_code == 403
