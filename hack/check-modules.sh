#!/usr/bin/env bash
# The sandbox builds Kubernetes itself and shares packages with the plugin, so the
# two modules have to agree on every version of k8s.io that both name; and
# k8s.io/kubernetes v1.X.Y goes with v0.X.Y of the others.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C # join and sort have to agree on the order

versions() { awk '$1 ~ /^k8s\.io\// && $2 ~ /^v/ {print $1, $2}' "$1" | sort -u; }

plugin=$(versions go.mod)
sandbox=$(versions sandbox/go.mod)
shared=$(join <(printf '%s\n' "$plugin") <(printf '%s\n' "$sandbox"))
if [ -z "$shared" ]; then
  echo "go.mod and sandbox/go.mod share no k8s.io module: nothing was compared" >&2
  exit 1
fi

differing=$(awk '$2 != $3 {print $1 ": " $2 " in go.mod, " $3 " in sandbox/go.mod"}' <<<"$shared")
if [ -n "$differing" ]; then
  printf 'The modules disagree; use one version:\n%s\n' "$differing" >&2
  exit 1
fi

api=$(awk '$1 == "k8s.io/api" {print $2}' <<<"$sandbox")
kubernetes=$(awk '$1 == "k8s.io/kubernetes" {print $2}' <<<"$sandbox")
if [ "${kubernetes#v1.}" != "${api#v0.}" ]; then
  echo "sandbox/go.mod has k8s.io/kubernetes $kubernetes with k8s.io/api $api; they are released as pairs" >&2
  exit 1
fi
echo "go.mod and sandbox/go.mod agree on all $(wc -l <<<"$shared") k8s.io modules that both name"
