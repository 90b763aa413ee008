"""The owners of an object, such as Helm or Argo CD, that may undo a change made here."""

from __future__ import annotations

from foretop_core.models import Resource

_ARGO_CD = ("Argo CD", "change it in the Git repository that the application follows")
_FLUX = ("Flux", "change it in the Git repository that the kustomization follows")
_FLUX_HELM = ("Flux", "change the values of its HelmRelease")
_MARKS = {
    "argocd.argoproj.io/tracking-id": _ARGO_CD,
    "argocd.argoproj.io/instance": _ARGO_CD,
    "kustomize.toolkit.fluxcd.io/name": _FLUX,
    "helm.toolkit.fluxcd.io/name": _FLUX_HELM,
    "meta.helm.sh/release-name": ("Helm", "change the values of its release"),
    "oadp.openshift.io/oadp": ("the OADP operator", "change the DataProtectionApplication"),
}
_PROGRAMS = {
    "argocd-controller": _ARGO_CD,
    "argocd-application-controller": _ARGO_CD,
    "kustomize-controller": _FLUX,
    "helm-controller": _FLUX_HELM,
}
"""The names under which programs that follow Git write."""


def gitops_manager(item: Resource) -> tuple[str, str, str] | None:
    """The program that follows Git and has written the object: its name, whose it is, and where to change it."""
    names = [entry.manager for entry in item.metadata.managed_fields]
    return next(((name, *_PROGRAMS[name]) for name in names if name in _PROGRAMS), None)


def owner_warning(item: Resource) -> str:
    """One sentence that names the owner and where to change the object for good; "" where nobody owns it."""
    controller = next((owner for owner in item.metadata.owner_references if owner.controller), None)
    if controller is not None:
        owner = f"{controller.kind} {controller.name}"
        return f"It belongs to {owner}, which may undo this: change it there to make it permanent."
    for mark, (owner, remedy) in _MARKS.items():
        value = item.annotation(mark) or item.label(mark)
        if value:
            return f"It is managed by {owner} ({value}), which may undo this: {remedy} to make it permanent."
    if (program := gitops_manager(item)) is not None:
        name, owner, remedy = program
        return f"It is managed by {owner} ({name} has written it), which may undo this: {remedy} to make it permanent."
    manager = item.label("app.kubernetes.io/managed-by")
    if manager in {"Helm", "argocd", "flux", "oadp-operator"}:
        return f"It is managed by {manager}, which may undo this: change it there to make it permanent."
    return ""
