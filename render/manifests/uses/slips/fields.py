"""The fields of the objects of Argo CD and Flux that say how others are applied, and of which type they are."""

from collections.abc import Mapping

#: What an Application may say, by where in its spec; and what it cannot do without.
SOURCE = frozenset(
    {
        "chart", "directory", "helm", "kustomize", "name", "path", "plugin", "ref", "repoURL",
        "targetRevision",
    }
)  # fmt: skip
OF_SPEC = frozenset(
    {
        "destination", "ignoreDifferences", "info", "project", "revisionHistoryLimit", "source",
        "sourceHydrator", "sources", "syncPolicy",
    }
)  # fmt: skip
OF_SOURCE: Mapping[str, frozenset[str]] = {
    "helm": frozenset(
        {
            "apiVersions", "fileParameters", "ignoreMissingValueFiles", "kubeVersion", "namespace",
            "parameters", "passCredentials", "releaseName", "skipCrds", "skipSchemaValidation",
            "skipTests", "valueFiles", "values", "valuesObject", "version",
        }
    ),
    "kustomize": frozenset(
        {
            "apiVersions", "commonAnnotations", "commonAnnotationsEnvsubst", "commonLabels",
            "components", "forceCommonAnnotations", "forceCommonLabels", "ignoreMissingComponents",
            "images", "kubeVersion", "labelIncludeTemplates", "labelWithoutSelector", "namePrefix",
            "nameSuffix", "namespace", "patches", "replicas", "version",
        }
    ),
    "directory": frozenset({"exclude", "include", "jsonnet", "recurse"}),
    "plugin": frozenset({"env", "name", "parameters"}),
}  # fmt: skip
#: What they are of, where that is more than one thing to who writes it.
TYPES: Mapping[str, Mapping[str, type]] = {
    "helm": {
        "fileParameters": list, "parameters": list, "valueFiles": list, "values": str,
        "valuesObject": dict,
    },
    "kustomize": {
        "commonAnnotations": dict, "commonLabels": dict, "components": list, "images": list,
        "namePrefix": str, "nameSuffix": str, "namespace": str, "patches": list,
    },
    "directory": {"recurse": bool},
    "plugin": {"env": list, "parameters": list},
}  # fmt: skip
#: What items of lists have that are texts, however they look.
TEXTS = (("helm", "parameters", "value"), ("plugin", "env", "value"))
CALLED: Mapping[type, str] = {
    bool: "true or false",
    dict: "a mapping",
    list: "a list",
    str: "a text",
}
OF_GENERATOR = frozenset(
    {
        "clusterDecisionResource", "clusters", "git", "list", "matrix", "merge", "plugin",
        "pullRequest", "scmProvider", "selector", "values",
    }
)  # fmt: skip
OF_GIT = frozenset(
    {
        "directories", "files", "pathParamPrefix", "repoURL", "requeueAfterSeconds", "revision",
        "template", "values",
    }
)  # fmt: skip
OF_ITEM = frozenset({"exclude", "path"})
DEEPEST = 3
OF_POLICY = frozenset({"automated", "managedNamespaceMetadata", "retry", "syncOptions"})
OF_AUTOMATED = frozenset({"allowEmpty", "enabled", "prune", "selfHeal"})
OF_DESTINATION = frozenset({"name", "namespace", "server"})
OF_KUSTOMIZATION = frozenset(
    {
        "commonMetadata", "components", "decryption", "deletionPolicy", "dependsOn", "force",
        "healthCheckExprs", "healthChecks", "ignoreMissingComponents", "images", "interval",
        "kubeConfig", "namePrefix", "nameSuffix", "patches", "patchesJson6902",
        "patchesStrategicMerge", "path", "postBuild", "prune", "retryInterval",
        "serviceAccountName", "sourceRef", "suspend", "targetNamespace", "timeout", "validation",
        "wait",
    }
)  # fmt: skip
OF_RELEASE = frozenset(
    {
        "chart", "chartRef", "commonMetadata", "dependsOn", "driftDetection", "healthCheckExprs",
        "install", "interval", "kubeConfig", "maxHistory", "persistentClient", "postRenderers",
        "releaseName", "rollback", "serviceAccountName", "storageNamespace", "suspend",
        "targetNamespace", "test", "timeout", "uninstall", "upgrade", "values", "valuesFrom",
        "waitStrategy",
    }
)  # fmt: skip
OF_CHART = frozenset(
    {
        "chart", "ignoreMissingValuesFiles", "interval", "reconcileStrategy", "sourceRef", "valuesFile",
        "valuesFiles", "verify", "version",
    }
)  # fmt: skip
