#!/usr/bin/env bash
# Formats, lints and tests what changed since main: the loop of whoever edits. It takes at most a minute once
# compiled. What it has no time for is named, never counted as passed.
# Usage: hack/check.sh [BASE]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
limit=${CHECK_LIMIT:-60}
SECONDS=0

base=${1:-}
if [ -z "$base" ]; then
  for name in origin/main main HEAD; do
    if git rev-parse -q --verify "$name" >/dev/null; then base=$name && break; fi
  done
fi
base=$(git merge-base "$base" HEAD)
mapfile -t files < <({ git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard; } | sort -u)
mapfile -t gofiles < <(printf '%s\n' "${files[@]}" | grep '\.go$' || true)
printf '%s files changed since %s, %s of them Go\n' "${#files[@]}" "$(git rev-parse --short "$base")" "${#gofiles[@]}"

if [ "${#gofiles[@]}" -gt 0 ]; then
  unformatted=$(gofmt -l "${gofiles[@]}")
  if [ -n "$unformatted" ]; then
    printf 'FAILED: not formatted; gofmt -w %s\n' "$(tr '\n' ' ' <<<"$unformatted")"
    exit 1
  fi
fi

# Folders of each module. Data below testdata belongs to the package above it.
folders() { printf '%s\n' "${files[@]}" | sed -n "s,^$1,,p" | grep -E '\.go$|/testdata/' | sed -E 's,(^|/)testdata/.*,\1,; s,[^/]*$,,; s,^,./,; s,/$,,' | sort -u; }
existing() { while read -r folder; do if compgen -G "$1$folder/*.go" >/dev/null; then printf '%s\n' "$folder"; fi; done; }
mapfile -t plugin < <(folders '' | grep -vE '^\./(sandbox|internal/specbytes|test/(helm|pipelines|release))(/|$)' | existing '')
mapfile -t sandbox < <(folders 'sandbox/' | existing 'sandbox/')

lint() {
  local code=0
  if [ "${#plugin[@]}" -gt 0 ]; then go tool -modfile=tools/go.mod golangci-lint run "${plugin[@]}" || code=1; fi
  if [ "${#sandbox[@]}" -gt 0 ]; then (cd sandbox && go tool -modfile=../tools/go.mod golangci-lint run --config ../.golangci.yml "${sandbox[@]}") || code=1; fi
  return "$code"
}
log=$(mktemp)
lint >"$log" 2>&1 &
linter=$!
trap 'kill "$linter" 2>/dev/null || true; rm -f "$log"' EXIT

# affected prints the packages that import what changed, also in tests, nearest first.
affected() {
  go list -f '{{.ImportPath}} {{.Dir}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... | awk -v root="$PWD" -v changed="$*" '
    BEGIN { n = split(changed, c, " "); for (i = 1; i <= n; i++) { d = c[i]; sub(/^\.\/?/, "", d); first[d] = 1 } }
    { d = substr($2, length(root) + 2); if (d in first) distance[$1] = 0; dir[$1] = d; for (i = 3; i <= NF; i++) imports[$1, $i] = 1; names[NR] = $1 }
    END {
      for (step = 0; step < 20; step++) for (i in names) { p = names[i]; if (p in distance) continue
        for (j in names) { q = names[j]; if (q in distance && distance[q] == step && (p, q) in imports) { distance[p] = step + 1; break } } }
      for (p in distance) print distance[p], "./" dir[p]
    }' | sort -n | awk '{print $2}'
}

# tested runs short tests in a folder until the time is over, and prints what was not finished.
tested() {
  local folder=$1 names left unfinished code
  shift
  left=$((limit - SECONDS))
  if [ "$#" -eq 0 ]; then return; fi
  names=$(mktemp)
  code=0
  (cd "$folder" && GOGC=400 timeout -s INT "$((left > 5 ? left : 5))" go test -short -vet=off "$@") >"$names" 2>&1 || code=$?
  unfinished=$((code == 124 ? 1 : 0))
  # An interrupt makes a package fail that has no failed test.
  if [ "$unfinished" = 1 ] && ! grep -qE '^ *--- FAIL|\[(build|setup) failed\]' "$names"; then
    sed -i -E 's/^FAIL\t/stopped\t/; /^FAIL$/d' "$names"
    code=0
  fi
  grep -v 'no test files' "$names" || true
  if [ "$unfinished" = 1 ]; then
    printf 'NOT FINISHED in %s s: those of %s packages that are not listed with ok; make test-quick runs all\n' "$limit" "$#"
  fi
  rm -f "$names"
  return "$code"
}

code=0
if [ "${#sandbox[@]}" -gt 0 ]; then tested sandbox "${sandbox[@]}" || code=1; fi
# The tests of ./docs read all code and text.
mapfile -t packages < <({ printf '%s\n' "${plugin[@]}" ./docs; affected "${plugin[@]}"; } | grep -vE '^$|^\./test/(e2e|bench|realdb|conformance)$' | awk '!seen[$0]++')
tested . "${packages[@]}" || code=1
if ! wait "$linter"; then
  cat "$log"
  echo 'FAILED: lint'
  code=1
fi
printf 'check: exit code %s after %s s\n' "$code" "$SECONDS"
exit "$code"
