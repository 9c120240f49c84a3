# The image in which SANDBOX=podman and SANDBOX=docker run agents and checks: git, Node.js and agents from npm. Add what
# your checks need, and build it:
#
#   podman build --tag localhost/ralph-sandbox --build-arg PACKAGES=@anthropic-ai/claude-code - < packaging/sandbox.Dockerfile
ARG BASE=node:22-bookworm-slim
FROM ${BASE}
RUN command -v git >/dev/null || { \
	apt-get update && apt-get install -y --no-install-recommends git ca-certificates procps && rm -rf /var/lib/apt/lists/*; }
ARG PACKAGES=
RUN test -z "${PACKAGES}" || { npm install -g ${PACKAGES} && npm cache clean --force; }
