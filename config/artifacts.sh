#!/usr/bin/env bash
# Builds the files of a release, except the image: config/artifacts.sh FOLDER, on the commit of a tag
# The folder gets the bundle with the examples for operators, the client, the list of packages (SBOM), the checksums and,
# as notes.md, the version's section of the CHANGELOG. Each run produces the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "artifacts: $*" >&2; exit 1; }

folder=${1:?give a folder}
version=$(node -p "require('./package.json').version")
[ "$(git rev-parse --quiet --verify "refs/tags/v$version^{commit}")" = "$(git rev-parse HEAD)" ] || fail "this commit has no tag v$version, the version of package.json"
npm run check:client
npm run build -- --sbom

mkdir -p "$folder"
tar --create --sort=name --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 --numeric-owner \
  dist config/bank.env.example config/{systemd,nginx,haproxy,squid,kubernetes,prometheus,grafana} |
  gzip --no-name >"$folder/accounts-gateway-$version.tar.gz"
cp "dist/client/accounts-gateway-client-$version.tgz" "$folder/"
cp dist/sbom.cdx.json "$folder/accounts-gateway-$version.cdx.json"
(cd "$folder" && sha256sum accounts-gateway-* >SHA256SUMS)
awk -v heading="## [$version]" 'index($0, heading) == 1 { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md >"$folder/notes.md"
grep -q '[^[:space:]]' "$folder/notes.md" || fail "CHANGELOG.md has nothing under [$version]"
