# Two stages: build, then an image with dist/ and without packages. Its Node is pinned on its own: it may be newer than that
# of `npm ci`. A pinned digest, or a mirror, without a change of this file:
# docker build --build-context node:24.22.3-trixie-slim=docker-image://node:24.22.3-trixie-slim@sha256:... .

# On this machine's architecture, whatever the image's: dist/ is the same for all.
FROM --platform=$BUILDPLATFORM node:24.22.3-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# The workspace in the lock file.
COPY client/package.json ./client/
# Without install scripts: the only one that matters installs a Node, which the image already has. Behind a private
# registry or a proxy with its own CA, pass the build secrets `npmrc` and `ca` (PEM): they do not end up in the image.
RUN --mount=type=secret,id=npmrc,target=/usr/local/etc/npmrc --mount=type=secret,id=ca \
    if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi; \
    npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json CHANGELOG.md ./
COPY config/build ./config/build
COPY docs ./docs
COPY client ./client
COPY src ./src
# The commit, if there is a checkout: .dockerignore does not exclude HEAD and the branches.
COPY package.json .gi[t] ./.git/
ARG GIT_COMMIT
# The files of the image, in one tree. All have the same timestamp, so that two builds of one commit have the same
# layers. An empty named volume inherits owner and mode from sandbox-bank, so that the sandbox can write its identity
# (docker-compose.yml).
RUN GIT_COMMIT=$GIT_COMMIT npm run build -- --sbom \
    && install -d -o 1000 -g 1000 -m 700 /image/var/lib/sandbox-bank && install -d /image/app && mv dist /image/app \
    && find /image -exec touch --no-dereference --date=@0 {} +

FROM node:24.22.3-trixie-slim
ARG GIT_COMMIT
ARG VERSION=1.0.0
ARG SOURCE=
LABEL org.opencontainers.image.title="accounts-gateway" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${GIT_COMMIT}" \
      org.opencontainers.image.source="${SOURCE}"
ENV NODE_ENV=production
COPY --from=build /image /
WORKDIR /app
# Numeric, because Kubernetes' runAsNonRoot accepts no names.
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
# Calls /health/live at the program's own address. Over HTTPS it trusts only the certificates in TLS_CERT_FILE.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "dist/main.js", "probe"]
ENTRYPOINT ["node", "--disable-sigusr1", "dist/main.js"]
