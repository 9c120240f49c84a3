# The image in which SANDBOX=podman and SANDBOX=docker run agents and checks.
# `ralph sandbox build` makes it. To add the tools of your project, save it with
# `ralph sandbox build --print`, extend it, and name your image in SANDBOX_IMAGE.
ARG BASE=node:22-bookworm-slim
FROM ${BASE}
RUN command -v git >/dev/null || { \
	apt-get update && apt-get install -y --no-install-recommends git ca-certificates procps && rm -rf /var/lib/apt/lists/*; }
ARG PACKAGES=
RUN test -z "${PACKAGES}" || { npm install -g ${PACKAGES} && npm cache clean --force; }
