#!/usr/bin/env bash
# Prints the release notes of a tag: its section of CHANGELOG.md, without the heading. Fails if there is none, so that
# no release is published whose changes are still below "Unreleased".
#
#   hack/release-notes.sh TAG [CHANGELOG]
set -euo pipefail
tag=${1:?usage: hack/release-notes.sh TAG [CHANGELOG]}
if [[ ! $tag =~ ^v[0-9]+\.[0-9]+\.[0-9]+ ]]; then
  echo "error: invalid tag \"$tag\": must be a version, such as v1.2.3" >&2
  exit 1
fi
changelog=${2:-$(dirname "${BASH_SOURCE[0]}")/../CHANGELOG.md}

# A heading is the version alone or before a date, as in "## v1.2.0 (2026-01-31)".
notes=$(awk -v version="${tag#v}" '
  /^## / { inside = $2 == version || $2 == "v" version; next }
  inside { print }
' "$changelog")
if ! grep -q '[^[:space:]]' <<<"$notes"; then
  echo "error: $changelog has no section \"## $tag\": rename the section Unreleased before the tag is pushed" >&2
  exit 1
fi
# The notes are not in the repository, where links to its files are relative.
files=https://github.com/kubectl-fdb/kubectl-fdb/blob/$tag
printf '%s\n' "$notes" | sed -E -e '/./,$!d' -e "s#\]\(([A-Za-z][^):]*)\)#](${files}/\1)#g"
