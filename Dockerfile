# The sidecar of Argo CD's repository server, also for CI jobs. Build: docker build -t registry.example.com/virt-render:0.1.0 .
# Everything in it has a version, and what pip installs a hash; Go's checksum database vouches for kustomize and helm. git, by
# which diff and history read commits in CI jobs, is the one that Debian has that day.
# KUSTOMIZE_VERSION and HELM_VERSION should be those that Argo CD bundles.
ARG PYTHON_IMAGE=python:3.11.7-slim-bookworm
ARG GO_IMAGE=golang:1.27.3-bookworm

FROM ${GO_IMAGE} AS tools
ENV CGO_ENABLED=0 GOBIN=/usr/local/bin GOTOOLCHAIN=local
ARG KUSTOMIZE_VERSION=v5.8.1
RUN go install -trimpath sigs.k8s.io/kustomize/kustomize/v5@${KUSTOMIZE_VERSION}
# kustomize learns its version from Go, helm from the linker.
ARG HELM_VERSION=v3.19.0
RUN go install -trimpath -ldflags "-s -w -X helm.sh/helm/v3/internal/version.version=${HELM_VERSION}" helm.sh/helm/v3/cmd/helm@${HELM_VERSION}

FROM ${PYTHON_IMAGE} AS build
COPY . /source
RUN python -m venv /opt/build && python -m venv /opt/virt-render \
 && /opt/build/bin/python -m pip install --no-cache-dir --disable-pip-version-check \
      --only-binary=:all: --require-hashes --requirement /source/requirements/build.txt \
 && cd /source && /opt/build/bin/hatchling build -t wheel -d /dist \
 && /opt/virt-render/bin/python -m pip install --no-cache-dir --disable-pip-version-check \
      --only-binary=:all: --require-hashes --requirement /source/requirements/runtime.txt \
 && /opt/virt-render/bin/python -m pip install --no-cache-dir --disable-pip-version-check --no-deps --no-index /dist/*.whl \
 && /opt/virt-render/bin/python -m pip uninstall --yes --quiet pip setuptools \
 && /opt/virt-render/bin/python -m compileall -q -j 0 /opt/virt-render/lib

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="virt-render" \
      org.opencontainers.image.description="Render KubeVirt virtual machines from the YAML in a Git repository" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
RUN apt-get update \
 && apt-get install --yes --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/virt-render /opt/virt-render
COPY --from=tools /usr/local/bin/kustomize /usr/local/bin/helm /usr/local/bin/
COPY deploy/comment.py /opt/virt-render/comment.py
COPY plugin.yaml /home/argocd/cmp-server/config/plugin.yaml
# Argo CD's sockets belong to 999; OpenShift picks any user, of group 0. Nothing is written but below TMPDIR.
RUN chgrp -R 0 /home/argocd && chmod -R g=u /home/argocd
ENV PATH=/opt/virt-render/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 999:0
WORKDIR /tmp
# In the sidecar the command is /var/run/argocd/argocd-cmp-server, which an init container of Argo CD puts there.
# Without arguments it is a function of kustomize and kpt, which give it none.
ENTRYPOINT ["virt-render"]
CMD ["krm"]
