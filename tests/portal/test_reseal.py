"""`manage.py reseal` makes older keys superfluous."""

from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import call_command
from django.utils import timezone

from accounts.adapter import MfaAdapter
from jobs.services import secrets
from tests.support import people
from tests.support.training import access

pytestmark = pytest.mark.django_db


def said() -> str:
    out = StringIO()
    call_command("reseal", stdout=out)
    return out.getvalue()


def test_all_that_is_sealed_opens_with_the_new_key_alone(settings: Any) -> None:
    owner = people.member()
    secrets.put(access=access(owner), name="TOKEN", value="s3cret", now=timezone.now())
    sealed = {"secret": MfaAdapter().encrypt("JBSWY3DP")}
    factor = Authenticator.objects.create(user=owner.user, type=Authenticator.Type.TOTP, data=sealed)
    settings.SEALING_KEYS = {"k9": b"9" * 32, **settings.SEALING_KEYS}
    first, second = said(), said()
    assert "secrets of jobs: 1 sealed anew" in first
    assert "second factors: 1 sealed anew" in first
    assert second.count(": 0 sealed anew") == 4
    settings.SEALING_KEYS = {"k9": b"9" * 32}
    assert secrets.values(owner.organisation_id, ["TOKEN"]) == {"TOKEN": "s3cret"}
    factor.refresh_from_db()
    assert MfaAdapter().decrypt(factor.data["secret"]) == "JBSWY3DP"
