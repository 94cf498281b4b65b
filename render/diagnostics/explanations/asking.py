"""Stages 8 and 9: how the program was asked, and what it does when it cannot go on."""

from render.diagnostics.explanations.explanation import Explanation

EXPLANATIONS = {
    "VR801": Explanation(
        "A setting is unknown, has a value that is not allowed, or means nothing together with another one. The"
        " message names the flag, parameter, environment variable or configuration key.",
        "$ virt-render build . --emit vmx",
        "--emit: 'vmx' is not one of vm, vmi, expand, hashed, revisions, source; did you mean vm?",
        "Use one of the values that the message lists; docs/options.md has all of them.",
    ),
    "VR802": Explanation(
        "The command line cannot be understood.",
        "$ virt-render build . --outptu vms.yaml",
        "no such option: --outptu",
        "'virt-render --help' and 'virt-render COMMAND --help' list what there is.",
    ),
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
