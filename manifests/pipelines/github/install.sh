#!/bin/sh
# Installs a release of the plugin for the later steps of a GitHub job, after its checksum matched. Without SHA256 the
# checksum is that of the same release, which detects a damaged archive and not a forged one. docs/releases.md has the
# commands that verify the signature and the provenance of an archive; SHA256 pins one that was verified.
set -eu

version=${VERSION#v}
case $version in '' | *[!0-9A-Za-z.+-]*)
  echo "error: invalid version \"$VERSION\"" >&2
  exit 2
  ;;
esac
case $(uname -m) in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) arch=$(uname -m) ;; esac
archive=kubectl-fdb_${version}_$(uname -s | tr '[:upper:]' '[:lower:]')_$arch.tar.gz
from=${GITHUB_SERVER_URL:-https://github.com}/kubectl-fdb/kubectl-fdb/releases/download/v$version
to=$RUNNER_TEMP/kubectl-fdb
mkdir -p "$to"
cd "$to"

curl --fail --silent --show-error --location --max-time 600 --output "$archive" "$from/$archive"
want=${SHA256:-}
if [ -z "$want" ]; then
  curl --fail --silent --show-error --location --max-time 60 --output checksums.txt "$from/checksums.txt"
  want=$(awk -v name="$archive" '$2 == name {print $1}' checksums.txt)
fi
if command -v sha256sum >/dev/null; then got=$(sha256sum "$archive"); else got=$(shasum -a 256 "$archive"); fi
if [ "${got%% *}" != "$want" ]; then
  echo "error: $archive has the SHA-256 ${got%% *}, want ${want:-one of checksums.txt, which does not list it}" >&2
  exit 1
fi
tar -xzf "$archive" kubectl-fdb
rm "$archive"
echo "$to" >>"$GITHUB_PATH"
