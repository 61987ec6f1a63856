"""Tests of the fence around Kubernetes."""
