"""The answer to addresses below the API that are nothing."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.views import APIView

from core import errors


class NothingHere(APIView):
    """Every method answers 404 as a problem document."""

    authentication_classes = []
    permission_classes = []
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse before anything else is looked at."""
        raise errors.NotFound(_("There is nothing here under this address, or it is not yours."))
