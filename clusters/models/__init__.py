"""Rows of the fleet and of what is rented from it."""

from clusters.models.catalogue import GpuModel, NodeType
from clusters.models.cluster import Cluster, ClusterEvent
from clusters.models.fleet import Node, Site
from clusters.models.reservation import Reservation

__all__ = ["Cluster", "ClusterEvent", "GpuModel", "Node", "NodeType", "Reservation", "Site"]
