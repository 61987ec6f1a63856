"""People in the API: oneself, tokens, projects, audit, notifications."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import reads, rights
from accounts.api import serializers
from accounts.api.base import BerthAPIView
from accounts.models import Project
from accounts.services import projects, tokens
from core.rest.fields import query_time
from core.rest.pagination import page_serializer, paginate


class MeView(BerthAPIView):
    """The token's own member and organisation."""

    rights = {"GET": None}

    @extend_schema(operation_id="me", responses=serializers.MeSerializer)
    def get(self, request: Request) -> Response:
        """Return who asks and what the token may do."""
        access = self.access
        body = {
            "user": access.user,
            "organisation": access.organisation,
            "role": access.role,
            "scopes": sorted(access.scopes or ()),
            "rights": sorted(right for right in rights.RIGHTS if access.allows(right)),
        }
        return Response(serializers.MeSerializer(body).data)


class TokensView(BerthAPIView):
    """Tokens of the organisation."""

    rights = {"GET": "admin", "POST": "admin"}
    show_once = frozenset({"secret"})
    paged = True

    @extend_schema(operation_id="tokens_list", responses=page_serializer(serializers.TokenSerializer))
    def get(self, request: Request) -> Response:
        """List the tokens that are not revoked, newest first."""
        page = paginate(reads.tokens(self.access.member, everyone=True), request.query_params)
        return Response(page.answer(lambda row: serializers.TokenSerializer(row).data))

    @extend_schema(
        operation_id="tokens_issue",
        request=serializers.IssueTokenSerializer,
        responses={201: serializers.NewTokenSerializer},
    )
    def post(self, request: Request) -> Response:
        """Issue a token of one's own; the secret is in this answer only."""
        body = serializers.IssueTokenSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        token, secret = tokens.issue(
            member=self.access.member,
            name=body.validated_data["name"],
            scopes=body.validated_data["scopes"],
            expires_at=body.validated_data.get("expires_at"),
            actor=self.access.actor,
            now=timezone.now(),
            idempotency_key=request.idempotency_key,  # type: ignore[attr-defined]
        )
        return Response({**serializers.TokenSerializer(token).data, "secret": secret}, status=201)


class TokenView(BerthAPIView):
    """One token."""

    rights = {"DELETE": "admin"}

    @extend_schema(operation_id="tokens_revoke", responses={204: None})
    def delete(self, request: Request, token_id: str) -> Response:
        """Revoke a token at once."""
        token = reads.tokens(self.access.member, everyone=True).get_or_404(token_id)  # type: ignore[attr-defined]
        tokens.revoke(token=token, actor=self.access.actor, now=timezone.now())
        return Response(status=204)


class ProjectsView(BerthAPIView):
    """Projects of the organisation."""

    rights = {"GET": "jobs:read", "POST": "jobs:write"}
    paged = True

    @extend_schema(operation_id="projects_list", responses=page_serializer(serializers.ProjectSerializer))
    def get(self, request: Request) -> Response:
        """List the projects, newest first."""
        page = paginate(Project.objects.for_org(self.organisation), request.query_params)
        return Response(page.answer(lambda row: serializers.ProjectSerializer(row).data))

    @extend_schema(
        operation_id="projects_create",
        request=serializers.MakeProjectSerializer,
        responses={201: serializers.ProjectSerializer},
    )
    def post(self, request: Request) -> Response:
        """Make a project."""
        body = serializers.MakeProjectSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        project = projects.create(
            organisation=self.organisation,
            **body.validated_data,
            actor=self.access.actor,
            now=timezone.now(),
            idempotency_key=request.idempotency_key,  # type: ignore[attr-defined]
        )
        return Response(serializers.ProjectSerializer(project).data, status=201)


class AuditView(BerthAPIView):
    """Who did what."""

    rights = {"GET": "admin"}
    paged = True

    @extend_schema(
        operation_id="audit_list",
        parameters=[
            OpenApiParameter("from", {"type": "string", "format": "date-time"}),
            OpenApiParameter("to", {"type": "string", "format": "date-time"}, description="Exclusive."),
            OpenApiParameter("actor", str, description="Id of a user or token, or the label shown."),
            OpenApiParameter("action", str, description="Such as `token.issued`."),
        ],
        responses=page_serializer(serializers.AuditEntrySerializer),
    )
    def get(self, request: Request) -> Response:
        """List the audit rows, newest first."""
        params = request.query_params
        rows = reads.audit(
            self.organisation,
            since=query_time(params, "from"),
            until=query_time(params, "to"),
            actor=params.get("actor", ""),
            action=params.get("action", ""),
        )
        page = paginate(rows, params)
        return Response(page.answer(lambda row: serializers.AuditEntrySerializer(row).data))


class NotificationsView(BerthAPIView):
    """What the member is told."""

    rights = {"GET": None}
    paged = True

    @extend_schema(
        operation_id="notifications_list", responses=page_serializer(serializers.NotificationSerializer)
    )
    def get(self, request: Request) -> Response:
        """List the notifications, newest first, in the language of the request."""
        page = paginate(reads.notifications(self.organisation, self.access.user), request.query_params)
        return Response(page.answer(lambda row: serializers.NotificationSerializer(row).data))
