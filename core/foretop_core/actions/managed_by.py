"""The owners of an object, such as Helm or Argo CD, that may undo a change made here."""

from __future__ import annotations

from foretop_core.models import Resource

_MARKS = (
    ("argocd.argoproj.io/tracking-id", "Argo CD", "change it in the Git repository that the application follows"),
    ("argocd.argoproj.io/instance", "Argo CD", "change it in the Git repository that the application follows"),
    ("kustomize.toolkit.fluxcd.io/name", "Flux", "change it in the Git repository that the kustomization follows"),
    ("helm.toolkit.fluxcd.io/name", "Flux", "change the values of its HelmRelease"),
    ("meta.helm.sh/release-name", "Helm", "change the values of its release"),
    ("oadp.openshift.io/oadp", "the OADP operator", "change the DataProtectionApplication"),
)


def owner_warning(item: Resource) -> str:
    """One sentence that names the owner and where to change the object for good; "" where nobody owns it."""
    controller = next((owner for owner in item.metadata.owner_references if owner.controller), None)
    if controller is not None:
        owner = f"{controller.kind} {controller.name}"
        return f"It belongs to {owner}, which may undo this: change it there to make it permanent."
    for mark, owner, remedy in _MARKS:
        value = item.annotation(mark) or item.label(mark)
        if value:
            return f"It is managed by {owner} ({value}), which may undo this: {remedy} to make it permanent."
    manager = item.label("app.kubernetes.io/managed-by")
    if manager in {"Helm", "argocd", "flux", "oadp-operator"}:
        return f"It is managed by {manager}, which may undo this: change it there to make it permanent."
    return ""
