"""Shapes of people in the API."""

from rest_framework import serializers

from accounts import notices, rights
from accounts.models import Notification, Project
from core.rest.fields import ZTime
from core.rest.serializers import StrictSerializer


class UserSerializer(serializers.Serializer):
    id = serializers.CharField()
    email = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    language = serializers.CharField(allow_blank=True)


class OrganisationSerializer(serializers.Serializer):
    id = serializers.CharField()
    name = serializers.CharField()
    zone = serializers.CharField()
    currency = serializers.CharField()


class MeSerializer(serializers.Serializer):
    """The token's member, its organisation, and what both allow."""

    user = UserSerializer()
    organisation = OrganisationSerializer()
    role = serializers.ChoiceField(choices=list(rights.ROLES))
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=rights.SCOPES))
    rights = serializers.ListField(
        child=serializers.CharField(), help_text="What role and scopes both allow."
    )


class TokenSerializer(serializers.Serializer):
    """A token without its secret."""

    id = serializers.CharField()
    name = serializers.CharField()
    prefix = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=rights.SCOPES))
    member = serializers.CharField(source="member_id")
    created_at = ZTime()
    expires_at = ZTime(allow_null=True)
    last_used_at = ZTime(allow_null=True)


class NewTokenSerializer(TokenSerializer):
    """A token just issued; a replay leaves the secret out."""

    secret = serializers.CharField(required=False)


class IssueTokenSerializer(StrictSerializer):
    """What a new token may do, and how long."""

    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=rights.SCOPES), min_length=1, max_length=len(rights.SCOPES)
    )
    expires_at = ZTime(required=False, allow_null=True)


class ProjectSerializer(serializers.ModelSerializer):
    """Where jobs are counted together."""

    created_at = ZTime()

    class Meta:
        model = Project
        fields = ["id", "slug", "name", "created_at"]


class MakeProjectSerializer(StrictSerializer):
    """A new project; without a name its slug is shown."""

    slug = serializers.RegexField(r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?\Z", max_length=40)
    name = serializers.CharField(max_length=100, required=False, allow_blank=True, default="")


class ActorSerializer(serializers.Serializer):
    """Who did it; ``user`` and ``token`` are ids, empty where there is none."""

    kind = serializers.CharField(source="actor_kind")
    label = serializers.CharField(source="actor_label")  # type: ignore[assignment]
    user = serializers.CharField(source="user_id", allow_blank=True)
    token = serializers.CharField(source="token_id", allow_blank=True)


class AuditEntrySerializer(serializers.Serializer):
    """One write: who, what, from where, before and after."""

    id = serializers.CharField()
    time = ZTime(source="at")
    actor = ActorSerializer(source="*")
    action = serializers.CharField()
    target = serializers.CharField(allow_blank=True)
    before = serializers.DictField(allow_null=True)
    after = serializers.DictField(allow_null=True)
    request_id = serializers.CharField(allow_blank=True)
    ip = serializers.CharField(allow_null=True)


class NotificationSerializer(serializers.Serializer):
    """Something to know, in the language of the request."""

    id = serializers.CharField()
    kind = serializers.CharField()
    severity = serializers.ChoiceField(choices=notices.SEVERITIES)
    title = serializers.SerializerMethodField()
    text = serializers.SerializerMethodField()
    link = serializers.CharField(allow_blank=True)
    created_at = ZTime()

    def get_title(self, row: Notification) -> str:
        """Return the title."""
        return notices.render(row.kind, row.params)[0]

    def get_text(self, row: Notification) -> str:
        """Return the text."""
        return notices.render(row.kind, row.params)[1]
