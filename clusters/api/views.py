"""REST of the catalogue (but for prices) and of clusters."""

from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.base import BerthAPIView
from clusters import reads, states
from clusters.api import serializers
from clusters.services import catalogue, clusters
from core import errors
from core.rest import pagination

DAY = timedelta(days=1)


class SitesView(BerthAPIView):
    """Sites."""

    rights = {"GET": "catalog:read"}
    paged = True

    @extend_schema(
        operation_id="listSites",
        tags=["Catalogue"],
        summary="Sites that take customers",
        responses=pagination.page_serializer(serializers.SiteSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return the sites."""
        page = pagination.paginate(catalogue.sites(), request.query_params, oldest_first=True)
        return Response(page.answer(lambda site: serializers.SiteSerializer(site).data))


class GpuModelsView(BerthAPIView):
    """Chips."""

    rights = {"GET": "catalog:read"}
    paged = True

    @extend_schema(
        operation_id="listGpuModels",
        tags=["Catalogue"],
        summary="GPU models with their figures and where these come from",
        responses=pagination.page_serializer(serializers.GpuModelSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return the chips of all offered server types."""
        page = pagination.paginate(catalogue.gpu_models(), request.query_params, oldest_first=True)
        return Response(page.answer(lambda model: serializers.GpuModelSerializer(model).data))


class AvailabilityView(BerthAPIView):
    """Free nodes for a span."""

    rights = {"GET": "catalog:read"}

    @extend_schema(
        operation_id="getAvailability",
        tags=["Catalogue"],
        summary="Whether so many nodes are free, and if not, from when",
        parameters=[serializers.AvailabilityQuery],
        responses=serializers.AvailabilitySerializer,
    )
    def get(self, request: Request) -> Response:
        """Return what a booking would find now; a start that has passed counts as now."""
        query = serializers.AvailabilityQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        asked: dict[str, Any] = query.validated_data
        site = catalogue.find_site(asked["site"])
        if site is None:
            raise errors.Invalid.field("site", "unknown", _("There is no such site."))
        node_type = catalogue.find_node_type(asked["node_type"])
        if node_type is None:
            raise errors.Invalid.field("node_type", "unknown", _("There is no such server type."))
        now = timezone.now()
        start = asked.get("starts_at") or now
        end = asked.get("ends_at") or start + DAY
        if end <= start:
            raise errors.Invalid.field("ends_at", "before_start", _("The end lies after the start."))
        begin = max(start, now)
        found = catalogue.available(
            site=site,
            node_type=node_type,
            nodes=asked["nodes"],
            starts_at=begin,
            ends_at=begin + (end - start),
        )
        return Response(serializers.AvailabilitySerializer(found).data)


class ClustersView(BerthAPIView):
    """The organisation's clusters."""

    rights = {"GET": "clusters:read"}
    paged = True

    @extend_schema(
        operation_id="listClusters",
        tags=["Clusters"],
        summary="Clusters, newest first",
        parameters=[
            OpenApiParameter("status", {"type": "string", "enum": list(states.CLUSTER.states)}),
            OpenApiParameter("site", str, description="Slug or id."),
            OpenApiParameter("node_type", str, description="Slug or id."),
        ],
        responses=pagination.page_serializer(serializers.ClusterSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return one page of clusters."""
        query = serializers.ClusterFilters(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        asked = query.validated_data
        rows = reads.clusters(self.organisation)
        if "status" in asked:
            rows = rows.filter(status=asked["status"])
        if "site" in asked:
            rows = rows.filter(Q(site__slug=asked["site"]) | Q(site=asked["site"]))
        if "node_type" in asked:
            rows = rows.filter(Q(node_type__slug=asked["node_type"]) | Q(node_type=asked["node_type"]))
        page = pagination.paginate(rows, request.query_params)
        return Response(page.answer(lambda row: serializers.ClusterSerializer(row).data))


class ClusterView(BerthAPIView):
    """One cluster."""

    rights = {"GET": "clusters:read", "PATCH": "clusters:write"}

    @extend_schema(
        operation_id="getCluster",
        tags=["Clusters"],
        summary="One cluster",
        responses=serializers.ClusterSerializer,
    )
    def get(self, request: Request, pk: str) -> Response:
        """Return a cluster of the organisation."""
        cluster = reads.clusters(self.organisation).get_or_404(pk)
        return Response(serializers.ClusterSerializer(cluster).data)

    @extend_schema(
        operation_id="changeCluster",
        tags=["Clusters"],
        summary="Rename a cluster or switch its renewal",
        request=serializers.ClusterPatchSerializer,
        responses=serializers.ClusterSerializer,
    )
    def patch(self, request: Request, pk: str) -> Response:
        """Change what a customer may change."""
        cluster = reads.clusters(self.organisation).get_or_404(pk)
        body = serializers.ClusterPatchSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        clusters.change(cluster=cluster, **body.validated_data, actor=self.access.actor, now=timezone.now())
        return Response(serializers.ClusterSerializer(cluster).data)
