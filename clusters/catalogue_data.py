"""What the demo installation offers: chips, server types, and how many of them stand where.

TFLOPS are dense. A figure that no source states is None. Berth checks none of these against hardware;
``source`` says where a figure comes from, ``official`` whether the vendor publishes it.
"""

from typing import Any

_MLE = "stas00/ml-engineering (744d01e1), which cites the vendor's datasheet"
_LIT = "Lightning-AI/pytorch-lightning throughput.py (7f0c3436), which cites the vendor's datasheet"

_GPU_FIELDS = [
    "slug",
    "name",
    "vendor",
    "memory_gb",
    "memory_type",
    "bandwidth_gbs",
    "fp16_tflops",
    "bf16_tflops",
    "fp8_tflops",
    "tf32_tflops",
    "fp32_tflops",
    "link_gbs",
    "link_name",
    "power_watts",
    "official",
    "source",
]
_GPU_ROWS: list[tuple[Any, ...]] = [
    (
        *("t4", "NVIDIA T4", "NVIDIA", 16, "GDDR6", 320),
        *("65", None, None, None, "8.1", None, "", 70, True),
        f"{_LIT}; FP16 only, no BF16 path; bandwidth and power from a third-party page",
    ),
    (
        *("a30", "NVIDIA A30", "NVIDIA", 24, "HBM2", 933),
        *("165", "165", None, "82", "10.3", 200, "NVLink bridge (2 cards)", 165, True),
        "Third-party copy of the vendor's datasheet",
    ),
    (
        *("l40", "NVIDIA L40", "NVIDIA", 48, "GDDR6", 864),
        *("181", "181", "362", "90.5", "90.5", None, "", 300, True),
        f"{_LIT}; third-party copy of the vendor's sheet",
    ),
    (
        *("l40s", "NVIDIA L40S", "NVIDIA", 48, "GDDR6", 864),
        *("362", "362", "733", "183", "91.6", None, "", 350, True),
        _MLE,
    ),
    (
        *("a100-sxm-80", "NVIDIA A100 SXM 80 GB", "NVIDIA", 80, "HBM2e", 2039),
        *("312", "312", None, "156", "19.5", 600, "NVLink 3", 400, True),
        _MLE,
    ),
    (
        *("h100-sxm", "NVIDIA H100 SXM", "NVIDIA", 80, "HBM3", 3350),
        *("989", "989", "1979", "494.5", "67", 900, "NVLink 4", 700, True),
        _MLE,
    ),
    (
        *("h200-sxm", "NVIDIA H200 SXM", "NVIDIA", 141, "HBM3e", 4800),
        *("989", "989", "1979", "494.5", "67", 900, "NVLink 4", 700, True),
        _MLE,
    ),
    (
        *("b200-sxm", "NVIDIA B200 SXM", "NVIDIA", 180, "HBM3e", 8000),
        *("2250", "2250", "4500", "1125", "80", 1800, "NVLink 5", 1000, True),
        _MLE,
    ),
    (
        *("ascend-910b", "Huawei Ascend 910B", "Huawei", 64, "HBM2e", None),
        *("313", "313", None, None, None, None, "HCCS", None, False),
        "Unofficial: no datasheet found; third-party figures for the 910B3, others lie between 280 and 414",
    ),
]
GPU_MODELS = [dict(zip(_GPU_FIELDS, row, strict=True)) for row in _GPU_ROWS]

_NV3, _NV4, _NV5 = "NVLink 3, NVSwitch", "NVLink 4, NVSwitch", "NVLink 5, NVSwitch"
_PCIE, _ETH = "PCIe 4", "25 Gb/s Ethernet"
_TYPE_FIELDS = [
    "slug",
    "gpu",
    "gpus_per_node",
    "vcpus",
    "memory_gb",
    "nvme_tb",
    "interconnect",
    "fabric",
    "spans_domains",
]
_TYPE_ROWS: list[tuple[Any, ...]] = [
    ("t4-1x", "t4", 1, 8, 32, "0.5", _PCIE, _ETH, True),
    ("t4-2x", "t4", 2, 16, 64, "1", _PCIE, _ETH, True),
    ("t4-4x", "t4", 4, 32, 128, "2", _PCIE, _ETH, True),
    ("a30-1x", "a30", 1, 12, 64, "1", _PCIE, _ETH, True),
    ("a30-4x", "a30", 4, 48, 256, "4", _PCIE, "100 Gb/s Ethernet", False),
    ("l40-8x", "l40", 8, 96, 768, "7.68", _PCIE, "100 Gb/s Ethernet", False),
    ("l40s-8x", "l40s", 8, 128, 1024, "7.68", _PCIE, "200 Gb/s RoCE", False),
    ("a100-8x", "a100-sxm-80", 8, 128, 1024, "15.36", _NV3, "8 × 200 Gb/s InfiniBand", False),
    ("h100-8x", "h100-sxm", 8, 192, 2048, "30.72", _NV4, "8 × 400 Gb/s InfiniBand", False),
    ("h200-8x", "h200-sxm", 8, 192, 2048, "30.72", _NV4, "8 × 400 Gb/s InfiniBand", False),
    ("b200-8x", "b200-sxm", 8, 224, 2048, "30.72", _NV5, "8 × 400 Gb/s InfiniBand", False),
    ("ascend-910b-8x", "ascend-910b", 8, 192, 1536, "7.68", "HCCS", "8 × 200 Gb/s RoCE", False),
]
NODE_TYPES = [dict(zip(_TYPE_FIELDS, row, strict=True)) for row in _TYPE_ROWS]

# Nodes of the embedded site: server type -> sizes of its fabric domains. Small ones are there on purpose:
# a booking takes the smallest domain that fits.
EMBEDDED_NODES: dict[str, tuple[int, ...]] = {
    "t4-1x": (8,),
    "t4-2x": (4,),
    "t4-4x": (4,),
    "a30-1x": (8,),
    "a30-4x": (8,),
    "l40-8x": (4,),
    "l40s-8x": (8, 2),
    "a100-8x": (8, 8),
    "h100-8x": (8, 8, 4),
    "h200-8x": (8,),
    "b200-8x": (4,),
    "ascend-910b-8x": (8,),
}
