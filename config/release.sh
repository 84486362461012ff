#!/usr/bin/env bash
# Creates a release: config/release.sh 1.1.0
# Checks the tree and CI, sets the version everywhere, dates the CHANGELOG, commits and tags. Push the tag yourself; the workflow
# .github/workflows/release.yml then publishes the files that config/artifacts.sh builds. A second run changes nothing.
# --without-ci is for .ci/release.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "release: $*" >&2; exit 1; }

version=${1:-}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "give the version, for example: config/release.sh 1.1.0"
old=$(node -p "require('./package.json').version")
[ -z "$(git status --porcelain)" ] || fail "the tree has changes: commit or remove them"
[ "$(git branch --show-current)" = main ] || fail "releases are made on main"
for file in SECURITY.md:company.example CODEOWNERS:@accounts-gateway-; do
  ! grep -q "${file#*:}" ".github/${file%:*}" || fail ".github/${file%:*} has a placeholder: set the contact, or the teams, of your organization"
done
if tagged=$(git rev-parse --quiet --verify "refs/tags/v$version^{commit}"); then
  [ "$tagged" = "$(git rev-parse HEAD)" ] || fail "the tag v$version is on another commit"
  echo "release: v$version is tagged already; nothing to do"
  exit 0
fi
# the current version is accepted if it has no tag: the first release, or one bumped for a new client
[ "$(printf '%s\n' "$old" "$version" | sort -V | tail -1)" = "$version" ] || fail "$version does not follow $old"
section() { awk -v heading="## [$1]" 'index($0, heading) == 1 { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md; }
is_empty() { [ -z "$(section "$1" | tr --delete '[:space:]')" ]; }
if is_empty "$version"; then
  is_empty Unreleased && fail "CHANGELOG.md has nothing under [Unreleased]"
else
  is_empty Unreleased || fail "CHANGELOG.md has changes under [Unreleased] and under [$version]: put them into one"
fi

[ "${2:-}" = --without-ci ] || .ci/run

trap 'git checkout --quiet .' ERR
today=$(date -u +%F)
config/set-version.sh "$version"
if is_empty "$version"; then
  sed -i "s/^## \[Unreleased\]$/## [Unreleased]\n\n## [$version] - $today/" CHANGELOG.md
else
  sed -i "s/^## \[${version//./\\.}\].*/## [$version] - $today/" CHANGELOG.md
fi

git add --all
git commit --quiet --allow-empty --message "Release $version"
git tag --annotate "v$version" --message "accounts-gateway $version"
echo "release: v$version is committed and tagged. To publish: git push --follow-tags"
