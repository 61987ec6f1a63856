"""Mail and notifications: written with the event, sent once, tried again, in the reader's language."""

import smtplib
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.core.mail import EmailMessage
from django.utils import timezone

from accounts import notices, tasks
from accounts.models import MailMessage, Notification
from accounts.services import clean_up, mail, notifications
from tests.support import people

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def write(once_key: str = "1", subject: str = "Subject") -> None:
    mail.write(to="a@berth.example", subject=subject, body="Text", once_key=once_key, now=NOW)


def fail(monkeypatch: Any, error: Exception) -> None:
    def send(self: Any, **options: Any) -> int:
        raise error

    monkeypatch.setattr(EmailMessage, "send", send)


def test_a_message_is_sent_once_and_its_text_is_not_kept() -> None:
    write()
    write()
    tasks.send_waiting_mail()
    tasks.send_waiting_mail()
    assert [message.body for message in outbox.outbox] == ["Text"]
    row = MailMessage.objects.get()
    assert (row.state, row.body, row.claim_token) == ("sent", "", "")


def test_a_subject_cannot_bring_headers_along() -> None:
    write(subject="Hello\nBcc: evil@berth.example " + "x" * 300)
    mail.send_waiting(now=NOW)
    assert outbox.outbox[0].subject.startswith("Hello Bcc: evil")
    assert len(outbox.outbox[0].subject) == 200


def test_a_server_that_is_away_is_tried_again_with_pauses(monkeypatch: Any) -> None:
    write()
    fail(monkeypatch, ConnectionRefusedError("away"))
    now, pauses = NOW, []
    while True:
        assert mail.send_waiting(now=now) == 0
        row = MailMessage.objects.get()
        if row.state != "waiting":
            break
        pauses.append(row.due_at - now)
        assert mail.send_waiting(now=row.due_at - timedelta(seconds=1)) == 0
        now = row.due_at
    assert pauses[:3] == [timedelta(minutes=1), timedelta(minutes=2), timedelta(minutes=4)]
    assert max(pauses) == mail.LONGEST_PAUSE
    assert (row.state, row.attempts, row.last_error) == ("failed", mail.MOST_ATTEMPTS, "away")


def test_a_refused_address_is_not_tried_again(monkeypatch: Any) -> None:
    write()
    fail(monkeypatch, smtplib.SMTPRecipientsRefused({}))
    mail.send_waiting(now=NOW)
    assert MailMessage.objects.get().state == "failed"


def test_a_worker_that_died_gives_the_message_back_in_time() -> None:
    write()
    MailMessage.objects.update(claim_token="dead", claim_until=NOW + timedelta(seconds=60))
    assert mail.send_waiting(now=NOW) == 0
    assert mail.send_waiting(now=NOW + timedelta(seconds=60)) == 1


def test_old_mail_is_deleted_and_waiting_mail_kept() -> None:
    write("old")
    mail.send_waiting(now=NOW)
    write("waiting")
    assert clean_up.run(now=NOW + timedelta(days=31))["mail"] == 1
    assert MailMessage.objects.get().once_key == "waiting"
    tasks.clean_up_old_rows()


def test_those_with_the_role_hear_by_mail_in_their_language() -> None:
    home = people.organisation("Lab")
    owner = people.member(home, "owner", language="en")
    people.member(home, "viewer")
    notifications.notify(
        organisation=home,
        kind="job.failed",
        severity="bad",
        params={"name": "训练", "reason": "out of memory"},
        link="/jobs/job_1",
        once_key="job.failed:1",
        mail_to_roles=["owner", "developer"],
        now=NOW,
    )
    message = MailMessage.objects.get()
    assert message.to == owner.user.email
    assert message.subject == "Job 训练 failed"
    assert "http://127.0.0.1:8000/jobs/job_1" in message.body
    assert "out of memory" in message.body


def test_a_sentence_within_a_notice_is_said_with_its_values() -> None:
    values = {"replica": "worker-0", "exit_code": 2}
    sentence = {"sentence": "%(replica)s ended with exit code %(exit_code)s.", "values": values}
    _title, text = notices.render("job.failed", {"name": "a", "reason": sentence})
    assert text == "Reason: worker-0 ended with exit code 2."
    assert "Viewer" in notices.render("member.joined", {"person": "Li", "role": "viewer"})[1]


@pytest.mark.parametrize("change", [{"kind": "no.such"}, {"params": {}}, {"severity": "loud"}])
def test_a_notice_without_sentences_or_values_is_a_fault_of_ours(change: dict[str, Any]) -> None:
    told: dict[str, Any] = {"kind": "cluster.ready", "severity": "good", "params": {"name": "a"}, **change}
    with pytest.raises(ValueError):
        notifications.notify(organisation=people.organisation(), link="", once_key="1", now=NOW, **told)
    assert not Notification.objects.exists()


def test_every_sentence_names_the_same_values_in_both_languages() -> None:
    from django.utils import translation

    for notice in notices.NOTICES.values():
        for text in (notice.title, notice.text):
            with translation.override("zh-hans"):
                chinese = notices.names(str(text))
            with translation.override("en"):
                assert notices.names(str(text)) == chinese
