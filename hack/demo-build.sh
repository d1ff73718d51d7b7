#!/usr/bin/env bash
# Builds what the demo needs, and reports what is happening and how long it takes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages() { (cd "$1" && shift && go list -deps "$@") ; }

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
      printf '  %s packages compiled%s: %s s\n' "$compiled" "${total:+ of at most $total}" "$SECONDS"
    fi
  done
  printf '  %s packages compiled, all programs linked: %s s\n' "$compiled" "$SECONDS"
}

total=
for program in kubectl-fdb fdb-sandbox fdb-sandbox-tool kubectl; do
  if [ ! -x "bin/$program" ]; then total=unknown; fi
done
if [ -n "$total" ]; then
  printf 'The first build compiles the plugin, a Kubernetes API server and kubectl: about nine minutes on two idle cores. Later builds take seconds.\n'
  printf 'Modules: downloads what is missing\n'
  total=$({ packages . ./cmd/kubectl-fdb; packages sandbox ./cmd/fdb-sandbox ./cmd/fdb-sandbox-tool k8s.io/kubernetes/cmd/kubectl; } | sort -u | wc -l)
  printf '  %s packages are needed: %s s\n' "$total" "$SECONDS"
fi
printf 'Build: compiles and links\n'
{ GOFLAGS="${GOFLAGS:-} -v" "${MAKE:-make}" --no-print-directory build build-sandbox 2>&1 >&3 3>&- | progress; } 3>&1
