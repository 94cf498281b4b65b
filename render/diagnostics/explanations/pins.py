"""Codes VR6xx: pins, history and what was rendered."""

from render.diagnostics.explanations.examples import documents, vm
from render.diagnostics.explanations.explanation import Explanation

_LOCK = """\
apiVersion: virt-render.dev/v1alpha1
kind: RevisionLock
metadata: {name: virt-render-lock}
"""
_SMALL = "sha256:f79c7a9e64da788712a490ecf9061c27917353153098369ecf300ea9cc6d4dc1"
_ZERO = f"sha256:{'0' * 64}"
_REVISIONS = f"""\
revisions:
  {_SMALL}:
    instancetype: {{cpu: {{guest: 2}}, memory: {{guest: 2Gi}}}}
"""
_PIN = f"""\
pins:
  web:
    revision: 1
    instancetype: VirtualMachineClusterInstancetype/small@{_SMALL}
    rendered: {_ZERO}
"""
_PINNED = _LOCK + _REVISIONS + _PIN
_VM = vm("instancetype: {name: small}")
_LARGER = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterInstancetype
metadata: {name: small}
spec:
  cpu: {guest: 4}
  memory: {guest: 4Gi}
"""

EXPLANATIONS = {
    "VR601": Explanation(
        "The revision lock is not written as virt-render writes it. A lock is never used in part, and never"
        " overwritten while it cannot be read.",
        _LOCK + "revisions: {}\npins:\n  web: {revision: none}\n",
        "the pin of web: revision should be a number from 1",
        "Take the lock from git again; it is written by 'virt-render pin' and not by hand. Or remove it and pin anew:"
        " every VM then gets what the objects hold now.",
    ),
    "VR602": Explanation(
        "The revision lock still has git's conflict markers: two branches inserted pins at one place, or changed the"
        " same VM.",
        "$ git merge other-branch; virt-render build .",
        "half-merged",
        "Run 'virt-render pin --resolve', which merges both sides by VM and refuses only where both changed the same"
        " one.",
    ),
    "VR603": Explanation(
        "A content in the revision lock does not fit its hash, or a pin names a content that the lock does not hold:"
        " the file was edited by hand, or merged in a way that git took for clean.",
        _PINNED.replace("guest: 2Gi", "guest: 3Gi"),
        "was edited: its hash is",
        "Where the last commit of the lock is a merge, run 'virt-render pin --resolve', which merges both sides anew by"
        " VM. Otherwise take the lock from git again. To change what a VM runs, edit the instancetype and run"
        " 'virt-render pin --upgrade VM'.",
    ),
    "VR604": Explanation(
        "The revision lock was written by a later version of virt-render in a format that this one does not know.",
        _LOCK.replace("v1alpha1", "v1beta1") + "revisions: {}\npins: {}\n",
        "the lock has the format v1beta1",
        "Upgrade virt-render.",
    ),
    "VR605": Explanation(
        "Several locks reach the rendering, one on disk and one among the resources perhaps, and pin the same VM"
        " differently.",
        documents(_PINNED, _PINNED.replace("revision: 1", "revision: 2")),
        "two locks pin web differently",
        "Keep one of them. A kustomization that lists a lock among its resources should list the one beside it.",
    ),
    "VR606": Explanation(
        "With '--pins require' every VM that has a matcher must be pinned by the lock, and this one is not.",
        "$ virt-render build . --pins require",
        "is not pinned, and pins are required",
        "Run 'virt-render pin' and commit the lock with the VM.",
    ),
    "VR607": Explanation(
        "The VM's matcher names another object (or volume, or ControllerRevision) than the one that the lock pins it"
        " to. As in KubeVirt, the pin ends there: the current object is used, or with '--pins require' the rendering"
        " fails. So does that of a VM of the store whose flavour meant a preset, which no lock holds, and now means an"
        " instancetype or a flavor.",
        documents(_PINNED, vm("instancetype: {name: u1.small}")),
        "the matcher no longer means the VirtualMachineClusterInstancetype small",
        "Run 'virt-render pin' and commit the lock with the change.",
    ),
    "VR608": Explanation(
        "An instancetype or preference was edited, and VMs are pinned to what it was before. They do not change: that"
        " is what KubeVirt does with VMs that exist, and what a pin is for.",
        documents(_PINNED, _VM, _LARGER),
        "differs from what web is pinned to",
        "Run 'virt-render pin --upgrade VM' for the VMs that should have the new content, or '--upgrade-all'.",
    ),
    "VR609": Explanation(
        "An object that VMs are pinned to is no longer in the input. The lock holds its content, so they render as"
        " before; a new VM could not use it.",
        documents(_PINNED, _VM),
        "is not in the input: web is rendered from the lock",
        "Nothing, if it is meant. Otherwise add the object again, or let the VM name another one and pin it.",
    ),
    "VR610": Explanation(
        "What the lock says of a VM is not what 'virt-render pin' would write: the VM is new or gone, its matcher names"
        " another object, or its manifest renders to something else than at its last edit revision. Or the file is not"
        " as it writes it.",
        "$ virt-render pin . --check",
        "would become revision 2",
        "Run 'virt-render pin' and commit the lock together with the change.",
    ),
    "VR611": Explanation(
        "Both sides of a merge changed the pin of the same VM, and which of them is meant cannot be known. Or somebody"
        " edited the lock after git left it with a conflict, and merging would undo that.",
        "$ virt-render pin . --resolve",
        "both sides changed the pin of prod/web",
        "Take one side ('git checkout --ours' or '--theirs' with the path of the lock), then run 'virt-render pin':"
        " it adds what the other side's manifests need.",
    ),
    "VR612": Explanation(
        "'virt-render verify' found a VM that still has a matcher or a flavor, or one of kubevirt.io/v1alpha1: it was"
        " not rendered. kustomize, for one, leaves out exec functions silently where it runs without --enable-exec.",
        "$ kustomize build . | virt-render verify -",
        "still has its instancetype",
        "Render it; for kustomize, pass --enable-alpha-plugins --enable-exec. With '--allow-matchers' VMs that keep"
        " their matchers on purpose are fine.",
    ),
    "VR613": Explanation(
        "'virt-render verify' found a VM whose spec is not the one that was rendered: something edited it afterwards,"
        " or its stamp is incomplete.",
        "$ virt-render build . | sed 's/2Gi/4Gi/' | virt-render verify -",
        "is not the one that was rendered",
        "Make the edit in the source and render again; patches belong before the rendering.",
    ),
    "VR614": Explanation(
        "A name that 'hashed' or 'revisions' has to give is taken by an object with another content.",
        "$ virt-render build . --emit hashed",
        "is already there with another content",
        "Rename or remove the object that is in the way.",
    ),
    "VR615": Explanation(
        "The history of a VM cannot be read: no git repository, no such commit or revision, or no such VM in it. Or a"
        " number means several revisions: a lock was reverted, or a VM removed and added again.",
        "$ virt-render show web --at v9",
        "git knows no revision v9",
        "Name a commit, branch or tag that 'git log' shows; 'virt-render history VM' lists the numbers.",
    ),
    "VR616": Explanation(
        "The history ends here because the repository is a shallow clone, or the lock was moved here from another"
        " folder; there may be earlier revisions.",
        "$ virt-render history web",
        "the clone is shallow",
        "Run 'git fetch --unshallow' where the whole history is wanted; for a lock that was moved, ask in a work tree"
        " of the commit before.",
    ),
    "VR617": Explanation(
        "A lock above or below what is built pins one of its VMs, and nobody reads it: the lock that counts lies in the"
        " folder that is built.",
        "$ virt-render build overlays/prod",
        "virt-render.lock.yaml pins prod/web, and is not used for overlays/prod",
        "Run 'virt-render pin' for the folder that is built, or for one around several, and remove the other lock; or"
        " name it with --lock FILE.",
    ),
    "VR618": Explanation(
        "With '--pins require': the preset is part of what a machine is, and a lock holds no presets. An edit of it"
        " reaches every machine that it selects at the next rendering.",
        "$ virt-render build . --pins require",
        "presets are not pinned",
        "Use an instancetype or a preference in its place; 'virt-render migrate' writes a preference where it can.",
    ),
    "VR619": Explanation(
        "A VM of the store carries the number of its edit revision, kubevirt.io/revision, and the lock has another one:"
        " it was edited since. The number of the lock is the VM's; 'virt-render pin' begins with the store's, with 1"
        " where that is no number from 1.",
        documents(
            _LOCK + "revisions: {}\npins:\n  web:\n    revision: 16\n    rendered: "
            "sha256:d6961567e4f53e25d75f38610dafdd29bfe45b74cb1d51654a8de3ef7d36eb09\n",
            """\
apiVersion: kubevirt.io/v1alpha1
kind: VM
metadata: {name: web, annotations: {kubevirt.io/revision: "15"}}
spec: {restartPolicy: always, domain: {}}
""",
        ),
        "the lock counts revision 16, the store 15",
        "Write the number of the lock into the annotation, or remove the annotation.",
    ),
    "VR620": Explanation(
        "There is a lock, and '--emit expand' prints what KubeVirt's expand-vm-spec answers, which knows the objects in"
        " the cluster and no lock. With '--pins require' that is refused.",
        "$ virt-render build . --emit expand",
        "the lock has no say",
        "Use --emit vm, or --stored: of a stored VM KubeVirt has recorded what it runs, and the lock says that.",
    ),
    "VR621": Explanation(
        "The VM names a ControllerRevision by revisionName, and that one holds something else than when the VM was"
        " pinned to it. The API server refuses a change of the data of a ControllerRevision, so that the edit would"
        " reach what is rendered, and never the cluster.",
        documents(
            _LOCK
            + _REVISIONS
            + f"""\
pins:
  web:
    revision: 1
    instancetype: VirtualMachineInstancetype/small@{_SMALL}
    instancetypeRevisionName: web-small
    rendered: {_ZERO}
""",
            vm(
                "instancetype: {name: small, kind: VirtualMachineInstancetype, revisionName: web-small}"
            ),
            """\
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: web-small}
revision: 0
data:
  apiVersion: instancetype.kubevirt.io/v1beta1
  kind: VirtualMachineInstancetype
  metadata: {name: small}
  spec: {cpu: {guest: 6}, memory: {guest: 2Gi}}
""",
        ),
        "ControllerRevision web-small does not hold what web is pinned to by this name",
        "Undo the edit, and store the new content as a ControllerRevision of another name, which revisionName then"
        " names. Where the one in the cluster was deleted and created anew with this content, run"
        " 'virt-render pin --upgrade VM'.",
    ),
}
