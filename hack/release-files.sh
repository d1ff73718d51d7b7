#!/usr/bin/env bash
# Writes what archives and packages contain besides the program, into .release: completions and man
# pages of this version, and the manifests with its image. The same commit gives the same bytes.
#
#   hack/release-files.sh VERSION SECONDS-SINCE-1970
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$1
export SOURCE_DATE_EPOCH=$2

rm -rf .release
mkdir -p .release/completions .release/man
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/kubectl-fdb/kubectl-fdb/pkg/session.Version=$version" -o .release/kubectl-fdb ./cmd/kubectl-fdb
program=.release/kubectl-fdb

"$program" docs --dir .release/man --format man >/dev/null
for shell in bash zsh fish; do
  "$program" completion "$shell" >.release/completions/kubectl-fdb.$shell
done
"$program" completion powershell >.release/completions/kubectl-fdb.ps1
# kubectl runs this one to complete "kubectl fdb".
"$program" completion install --dir .release/completions >/dev/null 2>&1
rm "$program"

# In the repository the image is a placeholder, since a commit has none. The chart has values for it.
cp -R manifests .release/manifests
rm .release/manifests/embed.go
image=ghcr.io/kubectl-fdb/kubectl-fdb
find .release/manifests -type f -not -path '.release/manifests/helm/*' -exec sed -i.old \
  -e "s#registry\.example\.com/kubectl-fdb:placeholder#$image:$version#" \
  -e "s#registry\.example\.com/kubectl-fdb\$#$image#" -e "s#newTag: placeholder\$#newTag: $version#" {} +
find .release/manifests -name '*.old' -delete
