#!/usr/bin/env bash
# Makes a release: config/release.sh 1.1.0
# Checks the tree and CI, sets the version everywhere, dates the CHANGELOG, commits and tags. Push the tag yourself; the workflow
# .github/workflows/release.yml then publishes.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "release: $*" >&2; exit 1; }

version=${1:-}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "give the version, for example: config/release.sh 1.1.0"
old=$(node -p "require('./package.json').version")
[ -z "$(git status --porcelain)" ] || fail "the tree has changes: commit or remove them"
[ "$(git branch --show-current)" = main ] || fail "releases are made on main"
git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null && fail "the tag v$version exists"
heading=$(grep -n '^## \[Unreleased\]$' CHANGELOG.md | cut -d: -f1) || fail "CHANGELOG.md has no heading [Unreleased]"
sed -n "$((heading + 1)),\$p" CHANGELOG.md | sed '/^## /,$d' | grep -q '[^[:space:]]' || fail "CHANGELOG.md has nothing under [Unreleased]"
newest=$(printf '%s\n' "$old" "$version" | sort -V | tail -1)
[ "$version" != "$old" ] && [ "$newest" = "$version" ] || fail "$version does not follow $old"

.ci/run

npm version "$version" --no-git-tag-version --workspaces --include-workspace-root --no-audit --no-fund >/dev/null
sed -i "s/^ARG VERSION=.*/ARG VERSION=$version/" Dockerfile
sed -i "s/newTag: .*/newTag: $version/" config/kubernetes/kustomization.yaml
sed -i "s/accounts-gateway-client-${old//./\\.}\.tgz/accounts-gateway-client-$version.tgz/g" README.md client/README.md docs/*.md
sed -i "s/^## \[Unreleased\]$/## [Unreleased]\n\n## [$version] - $(date -u +%F)/" CHANGELOG.md
npm run --silent docs

git add --all
git commit --quiet --message "Release $version"
git tag --annotate "v$version" --message "accounts-gateway $version"
echo "release: v$version is committed and tagged. To publish: git push --follow-tags"
