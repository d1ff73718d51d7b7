#!/usr/bin/env bash
# Prints the path of the kubectl in the PATH if it may be used with a version of Kubernetes, and nothing
# otherwise. Kubernetes supports one minor version of difference, in both directions.
# Usage: hack/kubectl-for.sh v1.36.3
set -euo pipefail
server=${1:?usage: hack/kubectl-for.sh VERSION}
path=$(command -v kubectl) || exit 0
client=$("$path" version --client -o json 2>/dev/null | sed -nE 's/.*"gitVersion": *"(v[0-9]+\.[0-9]+)\..*/\1/p' | head -n 1) || exit 0
if [ -z "$client" ] || [ "${client%%.*}" != "${server%%.*}" ]; then exit 0; fi
minor=${server#*.}
difference=$((${client#*.} - ${minor%%.*}))
if ((difference >= -1 && difference <= 1)); then printf '%s\n' "$path"; fi
