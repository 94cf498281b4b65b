"""Codes VR8xx: settings and usage."""

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
    "VR803": Explanation(
        "A pattern below roots or shared in .virt-render.yaml matches no file and no folder: a folder was renamed, or"
        " the pattern is misspelt, and what it should decide is decided without it. One below exclude is only a note,"
        " since what is to be left out need not be there.",
        "$ virt-render check .",
        "roots: cluster/* matches no file and no folder",
        "Correct the pattern, or take it out.",
    ),
}
