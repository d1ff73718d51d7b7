#!/usr/bin/env bash
# Fuzzes every target for a while, one after the other. Usage: hack/fuzz.sh 30s
set -euo pipefail
cd "$(dirname "$0")/.."
time=$1
grep -rlE '^func Fuzz' --include='*_test.go' pkg internal api | while read -r file; do
  package=./$(dirname "$file")
  grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | cut -d' ' -f2 | while read -r target; do
    echo "== $package $target"
    go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "$time"
  done
done
