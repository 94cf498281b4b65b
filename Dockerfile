# The sidecar of Argo CD's repository server, also for CI jobs. Build: docker build -t registry.example.com/virt-render:0.1.0 .
# kustomize comes from an image of yours that has it; its version should be the one that Argo CD bundles.
ARG KUSTOMIZE_IMAGE=registry.example.com/kustomize:v5.8.1
FROM ${KUSTOMIZE_IMAGE} AS kustomize

FROM python:3.11-slim AS build
COPY . /source
RUN python -m venv /opt/virt-render \
 && /opt/virt-render/bin/python -m pip install --no-cache-dir --disable-pip-version-check /source \
 && /opt/virt-render/bin/python -m pip uninstall --yes --quiet pip setuptools \
 && /opt/virt-render/bin/python -m compileall -q -j 0 /opt/virt-render/lib

FROM python:3.11-slim
LABEL org.opencontainers.image.title="virt-render" \
      org.opencontainers.image.description="Render KubeVirt virtual machines from the YAML in a Git repository" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
COPY --from=build /opt/virt-render /opt/virt-render
COPY --from=kustomize /usr/local/bin/kustomize /usr/local/bin/kustomize
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
ENTRYPOINT ["virt-render"]
