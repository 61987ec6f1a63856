"""Berth in containers: manifests, image, documents, and what the processes do for them."""
