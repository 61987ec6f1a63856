"""The fence around Kubernetes: typed values and own errors outside, no Django and no app inside."""
