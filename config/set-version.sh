#!/usr/bin/env bash
# Sets the version of program, client and image in all files: config/set-version.sh 1.1.0
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:-}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "set-version: give the version, for example 1.1.0" >&2; exit 1; }

node - "$version" <<'SCRIPT'
const { readFileSync, writeFileSync } = require('node:fs');
const [version] = process.argv.slice(2);
for (const file of ['package.json', 'client/package.json', 'package-lock.json']) {
  const json = JSON.parse(readFileSync(file, 'utf8'));
  for (const each of [json, json.packages?.[''], json.packages?.client]) if (each) each.version = version;
  writeFileSync(file, `${JSON.stringify(json, null, 2)}\n`);
}
SCRIPT
sed -i "s/^ARG VERSION=.*/ARG VERSION=$version/" Dockerfile
sed -i -E "s#(NAME:|download v|accounts-gateway-)[0-9]+\.[0-9]+\.[0-9]+#\1$version#g" docs/deploy.md
sed -i -E "s/^[0-9.]+ · \[changelog\]/$version · [changelog]/" README.md
sed -i "s/newTag: .*/newTag: $version/" config/kubernetes/kustomization.yaml
sed -i -E "s/accounts-gateway-client-[0-9]+\.[0-9]+\.[0-9]+\.tgz/accounts-gateway-client-$version.tgz/g" README.md client/README.md docs/*.md
npm run --silent docs
npm run --silent client:record
