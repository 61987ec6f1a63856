"""The environments of a demo: one for the embedded site, real images for Kubernetes. Again is no harm."""

from datetime import datetime
from typing import Any

from jobs.models import Environment

EMBEDDED: dict[str, Any] = {
    "slug": "python-numpy",
    "title": "Python with NumPy (embedded)",
    "framework": "NumPy",
    "version": "2",
    "image": "berth.local/python-numpy",
    "backend": "embedded",
    "is_default": True,
}
KUBERNETES: tuple[dict[str, Any], ...] = (
    {
        "slug": "pytorch-2.9-cuda12.8",
        "title": "PyTorch 2.9, CUDA 12.8",
        "framework": "PyTorch",
        "version": "2.9.1",
        "cuda": "12.8",
        "image": "docker.io/pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime",
        "is_default": True,
    },
    {
        "slug": "pytorch-2.9-cuda12.8-devel",
        "title": "PyTorch 2.9, CUDA 12.8, with compilers",
        "framework": "PyTorch",
        "version": "2.9.1",
        "cuda": "12.8",
        "image": "docker.io/pytorch/pytorch:2.9.1-cuda12.8-cudnn9-devel",
    },
    {
        "slug": "tensorflow-2.20-gpu",
        "title": "TensorFlow 2.20, GPU",
        "framework": "TensorFlow",
        "version": "2.20.0",
        "cuda": "12.5",
        "image": "docker.io/tensorflow/tensorflow:2.20.0-gpu",
    },
    {
        "slug": "nemo-25.09",
        "title": "NeMo 25.09 with Megatron-LM",
        "framework": "Megatron-LM",
        "version": "25.09",
        "cuda": "13.0",
        "image": "nvcr.io/nvidia/nemo:25.09",
    },
)


def seed(*, now: datetime) -> None:
    """Write the environments; those that staff added or moved stay as they are."""
    rows = [EMBEDDED, *KUBERNETES]
    for position, row in enumerate(rows):
        fields = {**row, "position": position}
        Environment.objects.get_or_create(slug=fields.pop("slug"), defaults=fields)
