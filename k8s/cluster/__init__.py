"""The port on a real Kubernetes cluster, by the official client."""
