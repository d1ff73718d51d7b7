#!/usr/bin/env bash
# Announces a release that is public: pushes the cask for Homebrew and the manifest for Krew, which GoReleaser wrote to
# dist/, to their repositories. Needs curl and jq, and TAP_TOKEN, a token that writes to the contents of both. Without it,
# and for a version with a suffix, nothing is pushed. API_URL is the address of GitHub's API.
#
#   hack/announce.sh TAG [DIST]
set -euo pipefail
set +x # a trace would print the token
tag=${1:?usage: hack/announce.sh TAG [DIST]}
dist=${2:-dist}

case $tag in *-*)
  echo "$tag is not announced: it is a pre-release"
  exit
  ;;
esac
if [ -z "${TAP_TOKEN:-}" ]; then
  echo "$tag is not announced: TAP_TOKEN is not set"
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# api sends a request and prints the HTTP status. The token is in no argument, which other processes could read.
api() {
  printf 'header = "Authorization: Bearer %s"\n' "$TAP_TOKEN" |
    curl --config - --silent --show-error --max-time 60 --request "$1" --header 'Accept: application/vnd.github+json' \
      --output "$work/answer" --write-out '%{http_code}' "${@:3}" "${API_URL:-https://api.github.com}/repos/$2"
}

# push writes a file to a repository, over the one of the version before.
push() {
  local file=$1 to=$2 path=$3 status
  status=$(api GET "$to/contents/$path")
  case $status in
  200) jq -r .sha "$work/answer" >"$work/before" ;;
  404) : >"$work/before" ;;
  *)
    echo "error: $path of $to cannot be read: HTTP status $status" >&2
    return 1
    ;;
  esac
  base64 "$file" | tr -d '\n' >"$work/content"
  jq -n --rawfile content "$work/content" --rawfile before "$work/before" --arg message "Update $(basename "$file") to $tag" \
    '{message: $message, content: $content} + ($before | rtrimstr("\n") | if . == "" then {} else {sha: .} end)' >"$work/body"
  status=$(api PUT "$to/contents/$path" --data-binary "@$work/body")
  case $status in
  200 | 201) echo "$to has $path of $tag" ;;
  *)
    echo "error: $path of $to cannot be written: HTTP status $status" >&2
    return 1
    ;;
  esac
}

push "$dist/homebrew/Casks/kubectl-fdb.rb" kubectl-fdb/homebrew-tap Casks/kubectl-fdb.rb
push "$dist/krew/fdb.yaml" kubectl-fdb/krew-index plugins/fdb.yaml
