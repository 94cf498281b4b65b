"""Codes VR9xx: virt-render itself."""

from render.diagnostics.explanations.explanation import Explanation

EXPLANATIONS = {
    "VR901": Explanation(
        "virt-render itself failed: a defect of the program, not of your manifests. Nothing was printed.",
        "$ virt-render build .",
        "this is a defect in virt-render, not in your manifests",
        "Please report it, with what VIRT_RENDER_DEBUG=1 shows and the smallest input that does it.",
    ),
    "VR902": Explanation(
        "The work took longer than the deadline; the message says what was being done. Nothing was printed.",
        "$ virt-render argocd generate",
        "the deadline of 45 s has passed",
        "Render fewer objects per application, or raise the deadline together with Argo CD's own.",
    ),
}
