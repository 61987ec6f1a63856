"""Names of labels, taints and resources that Berth and the training operator agree on."""

RUN = "berth.dev/run"
JOB = "berth.dev/job"
CLUSTER = "berth.dev/cluster"
FABRIC = "berth.dev/fabric"

OPERATOR_JOB = "training.kubeflow.org/job-name"
OPERATOR_TYPE = "training.kubeflow.org/replica-type"
OPERATOR_INDEX = "training.kubeflow.org/replica-index"
OPERATOR_NAME = "training.kubeflow.org/operator-name"
OPERATOR_ROLE = "training.kubeflow.org/job-role"

GPU = "nvidia.com/gpu"
ACCELERATORS = (GPU, "amd.com/gpu", "huawei.com/Ascend910")
FIELD_MANAGER = "berth"
