#!/usr/bin/env bash
# The sandbox builds Kubernetes itself and shares packages with the plugin, so the
# two modules have to agree on every version of k8s.io that both name.
set -euo pipefail
cd "$(dirname "$0")/.."

versions() { awk '$1 ~ /^k8s\.io\// && $2 ~ /^v/ {print $1, $2}' "$1" | sort -u; }

differing=$(join <(versions go.mod) <(versions sandbox/go.mod) | awk '$2 != $3 {print $1 ": " $2 " in go.mod, " $3 " in sandbox/go.mod"}')
if [ -n "$differing" ]; then
  printf 'The modules disagree; use one version:\n%s\n' "$differing" >&2
  exit 1
fi
echo "go.mod and sandbox/go.mod agree on all k8s.io modules"
