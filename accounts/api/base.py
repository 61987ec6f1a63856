"""The base of every API view: who asks, may they, was it asked before, then the handler."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, ClassVar, cast

from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, MethodNotAllowed, NotAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import access
from accounts.models import Organisation
from accounts.services import idempotency, tokens
from core import errors
from core.rest import parsers

REPLAYED = "Idempotent-Replayed"
KEY_HEADER = "Idempotency-Key"
LONGEST_KEY = 255
CHUNK = 64 * 1024
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer berth_…``; the request's ``auth`` becomes the Access."""

    def authenticate(self, request: Request) -> tuple[Any, access.Access] | None:
        """Return user and access, None without the header; a bad token is refused."""
        words = get_authorization_header(request).split()
        if not words:
            return None
        if len(words) != 2 or words[0].lower() != b"bearer":
            raise AuthenticationFailed(_("Send the token as: Authorization: Bearer <token>."))
        token = tokens.authenticate(words[1].decode("utf-8", "replace"), timezone.now())
        if token is None:
            raise AuthenticationFailed(_("This token is unknown, expired or revoked. Issue a new one."))
        return token.member.user, access.of_token(token, request._request)

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401."""
        return 'Bearer realm="berth"'


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Names the token in the schema."""

    target_class = "accounts.api.base.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the security scheme."""
        return {"type": "http", "scheme": "bearer"}


class BerthAPIView(APIView):
    """Derive, name the right of each method in ``rights`` (None: any token), write the handlers.

    A handler of POST finds ``request.idempotency_key`` (None without the header): it stores it on the row
    that it makes, and when such a row stands already it continues that one.
    ``show_once`` names members of the answer that a replay leaves out.
    """

    authentication_classes = [BearerAuthentication]
    permission_classes = []
    rights: ClassVar[Mapping[str, str | None]] = {}
    show_once: ClassVar[frozenset[str]] = frozenset()

    @property
    def access(self) -> access.Access:
        """Who asks."""
        found: Any = self.request.auth
        return cast(access.Access, found)

    @property
    def organisation(self) -> Organisation:
        """For which organisation; all rows are reached through it."""
        return self.access.organisation

    def check_permissions(self, request: Request) -> None:
        """Refuse nobody (401), methods that the view lacks (405) and missing rights (403)."""
        asker: Any = request.auth
        if asker is None:
            raise NotAuthenticated(_("This call needs a token: Authorization: Bearer <token>."))
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method not in self.rights:
            raise MethodNotAllowed(method)
        right = self.rights[method]
        if right is not None:
            asker.require(right)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, authorise, and refuse what cannot be read or stored."""
        request.idempotency_key = None  # type: ignore[attr-defined]
        super().initial(request, *args, **kwargs)
        if any(parsers.UNSTORABLE.search(str(value)) for value in kwargs.values()):
            raise errors.NotFound(_("There is nothing here under this address, or it is not yours."))
        for name, values in request.query_params.lists():
            parsers.refuse_unstorable(values, parsers.UNSTORABLE.sub("?", name))
        if request.method in WRITES and not _is_form(request):
            request._request.body  # noqa: B018 (reads it once, within the size limit)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Run a request as REST framework does, with the key of a POST claimed before its handler."""
        self.args, self.kwargs = args, kwargs
        self.request = wrapped = self.initialize_request(request, *args, **kwargs)
        self.headers = self.default_response_headers
        try:
            self.initial(wrapped, *args, **kwargs)
            handler = getattr(self, str(wrapped.method).lower(), self.http_method_not_allowed)
            if wrapped.method == "POST" and KEY_HEADER in wrapped.headers:
                answer = self._once(wrapped, lambda: handler(wrapped, *args, **kwargs))
            else:
                answer = handler(wrapped, *args, **kwargs)
        except Exception as error:
            answer = self.handle_exception(error)
        self.response = self.finalize_response(wrapped, answer, *args, **kwargs)
        return self.response

    def _once(self, request: Request, run: Callable[[], Response]) -> Response:
        claim = idempotency.claim(
            organisation=self.organisation,
            key=_key(request),
            fingerprint=_fingerprint(request),
            now=timezone.now(),
        )
        if isinstance(claim, idempotency.Stored):
            return Response(claim.body, status=claim.status, headers={REPLAYED: "true"})
        request.idempotency_key = claim.identity  # type: ignore[attr-defined]
        try:
            answer = run()
        except Exception as error:
            answer = self.handle_exception(error)
        except BaseException:  # the process is told to end: free the key for the repeat
            idempotency.release(claim, same_request_only=True)
            raise
        if answer.status_code < HTTPStatus.BAD_REQUEST:
            body = answer.data
            if self.show_once:
                body = {name: value for name, value in body.items() if name not in self.show_once}
            idempotency.store(claim, status=answer.status_code, body=JSONRenderer().render(body))
        else:
            ours = answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
            idempotency.release(claim, same_request_only=ours)
        return answer


def _key(request: Request) -> str:
    key = request.headers[KEY_HEADER]
    if not (1 <= len(key) <= LONGEST_KEY and key.isprintable()):
        raise errors.Invalid.field(
            KEY_HEADER, "invalid", _("An Idempotency-Key has 1 to 255 printable characters.")
        )
    return key


def _is_form(request: Request) -> bool:
    return str(request.content_type).startswith("multipart/")


def _fingerprint(request: Request) -> str:
    head = [str(request.method).encode(), request.get_full_path().encode()]
    if not _is_form(request):
        return idempotency.fingerprint(*head, request._request.body)
    parts = []  # the boundary of a multipart body differs each time: take what it holds
    for name, values in sorted(cast(QueryDict, request.data).lists()):
        for value in cast(list[Any], values):
            parts.append(name.encode())
            if hasattr(value, "chunks"):
                parts.append(b"".join([idempotency.fingerprint(c).encode() for c in value.chunks(CHUNK)]))
                value.seek(0)
            else:
                parts.append(str(value).encode("utf-8", "replace"))
    return idempotency.fingerprint(*head, *parts)
