"""Codes VR1xx: reading the input."""

from render.diagnostics.explanations.examples import instancetype, vm
from render.diagnostics.explanations.explanation import Explanation

EXPLANATIONS = {
    "VR101": Explanation(
        "The file is not YAML as Kubernetes reads it: nothing in it can be used.",
        """\
metadata:
\tname: web
""",
        "found character that cannot start any token",
        "Correct the line. Tabs never indent YAML, and a value with ': ' or ' #' in it needs quotes. A template"
        " (Helm, Jinja) has to be rendered before it can be read: 'helm template . | virt-render build -'.",
    ),
    "VR102": Explanation(
        "A mapping has the same key twice. kubectl and Argo CD silently use the last one, kustomize refuses the"
        " file; whichever value was meant, one of them is lost.",
        """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  name: db
""",
        "key 'name' is already set on line 4",
        "Remove one of the two.",
    ),
    "VR103": Explanation(
        "Two documents have the same group, kind, namespace and name. Which of them a cluster ends up with depends"
        " on the order of applying.",
        """\
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
""",
        "ConfigMap web is there twice",
        "Remove or rename one. If they belong to different overlays, render each overlay by itself.",
    ),
    "VR104": Explanation(
        "A document is not a Kubernetes object: it is no mapping, or lacks apiVersion, kind or a name.",
        """\
apiVersion: v1
metadata: {name: web}
""",
        "kind is missing",
        "Give it apiVersion, kind and metadata.name, or move files that are not manifests out of the folder.",
    ),
    "VR105": Explanation(
        "A field that KubeVirt does not know. The API server drops it silently and the webhooks refuse it, so what"
        " it was meant to say would be lost. Only KubeVirt's kinds are checked.",
        vm(domain="cpus: {cores: 2}"),
        "unknown field",
        "Correct the spelling (the nearest known name is in the message), or the indentation.",
    ),
    "VR106": Explanation(
        "A field has a value of another type than KubeVirt's API says.",
        vm(domain="cpu: {cores: two}"),
        "must be",
        "Write the type that the message asks for. Quotes make a text of a number, their absence a number or a"
        " boolean of a text.",
    ),
    "VR107": Explanation(
        "A field without which KubeVirt refuses the object is missing.",
        """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec:
  runStrategy: Always
  template:
    spec:
      domain: {}
""",
        "required",
        "Add the field. 'devices: {}' is enough for a VM without devices of its own.",
    ),
    "VR108": Explanation(
        "A quantity (memory, storage, CPU) that Kubernetes cannot read.",
        vm(domain="memory: {guest: 4GB}"),
        "4GB",
        "Write a number with one of the suffixes Ki, Mi, Gi, Ti, Pi, Ei (powers of 1024) or k, M, G, T, P, E"
        " (powers of 1000), without a space.",
    ),
    "VR109": Explanation(
        "A value of the right type that KubeVirt's API does not allow in this field.",
        vm() + "      dnsPolicy: Sometimes\n",
        "Sometimes",
        "Use one of the values that the message lists.",
    ),
    "VR110": Explanation(
        "A path does not exist, cannot be read, or leads out of the folders that were given.",
        "$ virt-render build nowhere",
        "cannot read nowhere: No such file or directory",
        "Check the path and its permissions. Symbolic links that leave the given folder are refused: give the"
        " folder that holds both, or copy the target.",
    ),
    "VR111": Explanation(
        "The input is larger, deeper or expands further than the limits allow. The limits keep a hostile or broken"
        " file from taking the machine with it.",
        "$ virt-render build - --max-documents 10 < all.yaml",
        "more than 10 documents",
        "Split the input, or raise the limit that the message names.",
    ),
    "VR112": Explanation(
        "Nothing was read. Printing nothing would tell Argo CD or kubectl to remove everything, so it is an error.",
        "$ virt-render build - < /dev/null",
        "no Kubernetes object",
        "Check the path. If an empty input is meant: --allow-empty.",
    ),
    "VR113": Explanation(
        "An unquoted value inside a VM that kubectl and kustomize read differently: 'yes', 'on' and 'n' are booleans"
        " to one and texts to the other, dates change their notation.",
        vm().replace("devices: {}", "devices: {autoattachMemBalloon: yes}"),
        "yes is true to kubectl",
        "Put the text in quotes, or write true or false.",
    ),
    "VR114": Explanation(
        "Part of a file is not read by Kubernetes tools: what stands after '...' without a new '---' is dropped"
        " silently by all of them. Of a flavor with profiles and a spec, the profiles are.",
        """\
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
...
apiVersion: v1
kind: ConfigMap
metadata: {name: db}
""",
        "what follows ... up to the next --- is read by nobody",
        "Put '---' before the next document.",
    ),
    "VR115": Explanation(
        "A placeholder of a template was never filled in, in a name, a matcher or another field that is not free"
        " text. 'check' only notes it, since the manifests of a repository may be filled in later. What else is wrong"
        " with the object is found all the same, as far as it is so whatever the placeholders stand for.",
        vm().replace("name: web", 'name: "${NAME}"'),
        "${NAME}",
        "Fill in the template first and render its result.",
    ),
    "VR116": Explanation(
        "kustomize could not build the folder; its own words are in the message.",
        "$ virt-render build overlay",
        "kustomize build overlay failed",
        "Run 'kustomize build' on the same folder and correct what it says. Remote bases need --allow-remote.",
    ),
    "VR117": Explanation(
        "The folder holds a kustomization, and there is no kustomize binary to build it with.",
        "$ virt-render build overlay",
        "kustomize is not installed",
        "Install kustomize v5, name it with --kustomize PATH, or pipe the output of 'kubectl kustomize' into"
        " 'virt-render build -'. With '--kustomize never' the files are read as they are.",
    ),
    "VR118": Explanation(
        "A file was not read as manifests: it is a Helm template, belongs to kustomize, or holds other YAML. Shown"
        " with -v.",
        "$ virt-render check -v chart",
        "skipped",
        "Nothing to do. If the file should be read, name it as a path of its own.",
    ),
    "VR119": Explanation(
        "The folder holds several kustomizations, and 'build' prints exactly one set of objects.",
        "$ virt-render build environments",
        "several kustomizations",
        "Build one of the listed folders. 'check' takes all of them at once.",
    ),
    "VR120": Explanation(
        "An annotation virt-render.dev/ignore.CODE silences nothing: the finding does not occur (any more), cannot"
        " be suppressed, or the annotation gives no reason. Of what was not looked for it says nothing: with"
        " --admission off, or where the object has an error left, which may have kept others from being found.",
        """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: web
  annotations: {virt-render.dev/ignore.VR401: sized by hand}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        devices: {}
        memory: {guest: 1Gi}
""",
        "VR401 (requirement-unmet) is suppressed here but does not occur",
        "Remove the annotation; or, where it lacks one, write the reason as its value.",
    ),
    "VR121": Explanation(
        "The output could not be written. Every file is as it was: several are written beside their places first, and"
        " where one cannot be replaced, those before it are put back. If that fails, as on a file system without hard"
        " links, the message names those that are replaced. `virt-render migrate` also writes nothing if a file that"
        " it read has been edited in the meantime.",
        "$ virt-render build . -o /nowhere/out.yaml",
        "cannot write /nowhere/out.yaml: No such file or directory",
        "Check that the folder exists, may be written and has space.",
    ),
    "VR122": Explanation(
        "A kustomization refers to something that kustomize would fetch from the network. The same commit would then"
        " not always give the same VMs.",
        "$ virt-render build overlay",
        "refers to https://example.org/base, which kustomize would fetch from elsewhere",
        "Keep a copy in the repository, or allow the network with --allow-remote.",
    ),
    "VR123": Explanation(
        "KubeVirt does not serve this kind or version in its API groups. The API server would refuse the object, and"
        " whatever names it would not find it.",
        instancetype("small", cpus=1).replace("Instancetype", "InstanceType"),
        "KubeVirt v1.9.0 serves no kind VirtualMachineInstanceType in instancetype.kubevirt.io/v1beta1",
        "Write the kind as the help says. An object of a later release can be let through with"
        " `virt-render.dev/ignore.VR123: reason`.",
    ),
    "VR124": Explanation(
        "A disk or an interface has a bootOrder in the base and none in what kustomize built. kustomize knows no names"
        " in the lists of a VM, so that a patch with one disk replaces all of them; KubeVirt attaches the volumes of"
        " the others again, without their order.",
        "$ virt-render check overlays/prod",
        "root had bootOrder 1 before kustomize built it, and has none now",
        "Repeat all entries in the patch, write a JSON patch, or let 'virt-render kustomize init' tell kustomize by"
        " which names lists are merged.",
    ),
    "VR126": Explanation(
        "--set fills in the parameters of templates. One that is required, or that is generated anew each time, has no"
        " value of its own and was not named.",
        "$ virt-render build --set NAME=web template.yaml",
        "the parameter PASSWORD of Template web is generated anew each time",
        "Give it one more --set NAME=VALUE.",
    ),
    "VR127": Explanation(
        "helm template refused the chart, or a file of it is none of its repository's. The message is helm's own. Helm"
        " runs without plugins, repositories, cluster and network: what a chart depends on has to be in charts/.",
        "$ virt-render build chart",
        "An error occurred while checking for chart dependencies",
        "What the message says; 'helm dependency build' puts dependencies into charts/, --values names values files.",
    ),
    "VR128": Explanation(
        "PATH is a Helm chart, and there is no helm to render it.",
        "$ virt-render build chart",
        "chart is a Helm chart, and there is no helm binary on the PATH",
        "Install helm, name it with --helm PATH, or pipe 'helm template' into 'virt-render build -'.",
    ),
    "VR129": Explanation(
        "The API server takes no object with this name, namespace, label or annotation, whatever its kind is; in a"
        " template it refuses what is made of it, so that a VM never starts. What"
        " looks like a placeholder that somebody else fills in is not judged.",
        """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata:
  name: web
  namespace: team.a
spec:
  cpu: {guest: 1}
  memory: {guest: 1Gi}
""",
        'metadata.namespace: Invalid value: "team.a": must not contain dots',
        "Names of objects have lower case letters, digits, '-' and '.', namespaces no '.'; labels and the keys of"
        " annotations may have capital letters and '_' too.",
    ),
}
