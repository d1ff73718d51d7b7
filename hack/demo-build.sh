#!/usr/bin/env bash
# Builds what the demo and the end-to-end tests need, and reports what is happening and how long it takes.
# Usage: hack/demo-build.sh [demo]. With "demo" a kubectl in the PATH that fits is used instead of one of our own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(awk '$1 == "k8s.io/kubernetes" {print $2}' sandbox/go.mod)
sandbox=(./cmd/fdb-sandbox ./cmd/fdb-sandbox-tool)
kubectl=
if [ "${1:-}" = demo ] && [ ! -x bin/kubectl ]; then kubectl=$(hack/kubectl-for.sh "$version"); fi
if [ -z "$kubectl" ]; then sandbox+=(k8s.io/kubernetes/cmd/kubectl); fi

# compiles names the packages that a build would compile.
compiles() { (cd "$1" && shift && go build -n -o /dev/null "$@" 2>&1 | sed -nE 's/.*\/compile .* -p ([^ ]+) .*/\1/p') || true; }

# progress counts the packages that `go build -v` names, and passes everything else on.
progress() {
  local compiled=0 shown=$SECONDS line
  while read -r line; do
    if [[ ! $line =~ ^[A-Za-z0-9._/@~-]+$ ]]; then
      printf '%s\n' "$line" >&2
      continue
    fi
    compiled=$((compiled + 1))
    if ((SECONDS - shown >= 5)); then
      shown=$SECONDS
      printf '  %s packages compiled%s: %s s\n' "$compiled" "${total:+ of $total ($((100 * (compiled < total ? compiled : total) / total)) %)}" "$SECONDS"
    fi
  done
  printf '  %s packages compiled, all programs linked: %s s\n' "$compiled" "$SECONDS"
}

total=
for program in kubectl-fdb fdb-sandbox fdb-sandbox-tool; do
  if [ ! -x "bin/$program" ]; then total=unknown; fi
done
if [ -n "$total" ]; then
  printf 'The first build, on two cores with nothing compiled: the plugin took 4 minutes, and the Kubernetes API server and kubectl of the sandbox 6. Later builds take seconds.\n'
  printf 'Modules: downloads what is missing\n'
  go mod download
  (cd sandbox && go mod download)
  total=$({ compiles . ./cmd/kubectl-fdb; compiles sandbox "${sandbox[@]}"; } | awk '$0 == "main" || !seen[$0]++' | wc -l)
  printf '  %s packages are compiled: %s s\n' "$total" "$SECONDS"
  if [ "$total" = 0 ]; then total=; fi
fi
if [ -n "$kubectl" ]; then printf 'kubectl: %s fits Kubernetes %s, and is used\n' "$kubectl" "$version"; fi
printf 'Build: compiles and links\n'
{ GOFLAGS="${GOFLAGS:-} -v" "${MAKE:-make}" --no-print-directory build build-sandbox KUBECTL="$kubectl" 2>&1 >&3 3>&- | progress; } 3>&1
