"""A real API server takes every manifest: server-side apply as a dry run, unknown fields refused."""

import json
from typing import Any

import pytest
import urllib3

from tests.deploy.conftest import FOLDER, OVERLAYS
from tests.support import apiserver, kustomize, schemas
from tests.support.apiserver import ApiServer

PLURALS = {"NetworkPolicy": "networkpolicies", "Ingress": "ingresses"}


@pytest.mark.skipif(apiserver.assets() is None, reason=apiserver.SKIPPED)
@pytest.mark.parametrize("folder", [*OVERLAYS, "site"])
def test_every_manifest_is_taken(folder: str, api_server: ApiServer) -> None:
    http = urllib3.PoolManager(ssl_context=api_server.context(), retries=False)
    refused = {}
    with http:
        for one in kustomize.build(FOLDER / folder):
            if schemas.model_of(one) is None:
                continue  # kinds of the Prometheus operator, which is not there
            answer = http.request(
                "PATCH",
                api_server.url + _path(one),
                body=json.dumps(one),
                headers={
                    "Authorization": f"Bearer {api_server.token}",
                    "Content-Type": "application/apply-patch+yaml",
                },
                timeout=30,
            )
            if answer.status not in (200, 201):
                refused[one["metadata"]["name"]] = answer.data.decode()
    assert refused == {}


def _path(one: dict[str, Any]) -> str:
    group = one["apiVersion"]
    root = f"/apis/{group}" if "/" in group else f"/api/{group}"
    plural = PLURALS.get(one["kind"], one["kind"].lower() + "s")
    namespace = one["metadata"].get("namespace")
    where = f"/namespaces/{namespace}" if namespace else ""
    dry = "" if one["kind"] == "Namespace" else "&dryRun=All"  # the others need it, so it is made
    name = one["metadata"]["name"]
    return f"{root}{where}/{plural}/{name}?fieldManager=berth&fieldValidation=Strict{dry}"
