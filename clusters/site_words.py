"""Sentences for what is found at a site and in a kubeconfig: what it is, and what to do."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

FINDINGS: dict[str, tuple[str | Promise, str | Promise]] = {
    "version": (_("%(version)s answers."), ""),
    "old_version": (_("%(version)s is too old."), _("Berth needs Kubernetes 1.29 or newer.")),
    "odd_version": (_("The version %(version)s is unknown."), _("Make sure that it is 1.29 or newer.")),
    "operator": (_("PyTorchJob %(version)s is served."), ""),
    "operator_version": (
        _("PyTorchJobs are served as %(version)s, not as v1."),
        _("Install the Kubeflow training operator v1."),
    ),
    "no_operator": (
        _("There are no PyTorchJobs."),
        _("Install the Kubeflow training operator v1 with its CRDs, then check again."),
    ),
    "rights": (_("All %(count)s rights are there."), ""),
    "missing_rights": (
        _("Berth's account lacks: %(rights)s."),
        _("Bind it to a role with these rights in all namespaces."),
    ),
    "gpus": (_("%(count)s × %(resource)s are offered by the nodes."), ""),
    "no_gpus": (
        _("No node offers %(resource)s."),
        _("Install the device plugin of your GPUs and wait until nodes show them as allocatable."),
    ),
    "other_gpus": (
        _("No node offers %(resource)s; found: %(found)s."),
        _("Set the resource name of the site to the one that was found."),
    ),
    "storage": (
        _("Volumes come from %(name)s (%(provisioner)s)."),
        _("It must serve ReadWriteMany volumes."),
    ),
    "no_such_class": (
        _("There is no storage class %(name)s; found: %(found)s."),
        _("Name one that serves ReadWriteMany volumes."),
    ),
    "no_default_class": (
        _("No storage class is the default; found: %(found)s."),
        _("Name one that serves ReadWriteMany volumes, or make it the default."),
    ),
    "unusable": (_("The stored credentials cannot be used."), _("Replace them.")),
    "unreachable": (
        _("The site does not answer: %(detail)s"),
        _("Check the address, the firewall between Berth and the API server, and its certificate."),
    ),
    "unauthorised": (_("The site does not accept the credentials."), _("Replace them: they may have ended.")),
    "forbidden": (
        _("The site forbids what the check asks: %(detail)s"),
        _("Give Berth's account the rights."),
    ),
    "failed": (_("The check failed: %(detail)s"), _("Check again; if it stays, look at the API server.")),
}

KUBECONFIG: dict[str, str | Promise] = {
    "empty": _("It is empty."),
    "too_long": _("It is longer than %(most)s KB."),
    "not_yaml": _("It is no plain YAML."),
    "not_a_kubeconfig": _("It is no kubeconfig."),
    "no_current_context": _("It names no current context."),
    "missing": _("It has no %(kind)s for its current context."),
    "ambiguous": _("It has two entries of one name: %(kind)s."),
    "file_reference": _(
        "%(field)s names a file. Put the data itself into it: kubectl config view --flatten."
    ),
    "no_tls_verify": _("It switches the check of the server's certificate off."),
    "proxy": _("It goes through a proxy."),
    "exec_plugin": _("It runs a program to sign in. Use a token or a client certificate."),
    "auth_provider": _("It uses an auth provider. Use a token or a client certificate."),
    "impersonation": _("It acts as somebody else (%(field)s)."),
    "basic_auth": _("It signs in by name and password. Use a token or a client certificate."),
    "no_server": _("It names no usable address of a server."),
    "no_tls": _("Its server is reached without TLS."),
    "local_server": _("Its server %(host)s is an address of this machine or of a metadata service."),
    "public_authority": _("It brings no certificate authority, so public ones are trusted."),
    "unreadable": _("%(field)s cannot be read."),
    "half_certificate": _("A client certificate and its key come together."),
    "no_credentials": _("It has neither a token nor a client certificate."),
    "expired": _("The client certificate ended on %(date)s."),
    "expires_soon": _("The client certificate ends on %(date)s."),
    "not_yet_valid": _("The client certificate is not valid yet."),
}


def finding(code: str, values: Mapping[str, str]) -> tuple[str, str]:
    """Return what was found and what to do, in the reader's language."""
    said, advice = FINDINGS[code]
    return str(said) % values, str(advice) % values


def kubeconfig(code: str, values: Mapping[str, str]) -> str:
    """Return the sentence of a fault of a kubeconfig."""
    return str(KUBECONFIG[code]) % values
