#!/usr/bin/env bash
# Fuzzes every target of the plugin's module for a while, one after the other.
# Usage: hack/fuzz.sh 30s
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=${1:?usage: hack/fuzz.sh TIME, for example 30s}

mapfile -t targets < <(grep -roE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' api internal/fdbsim pkg | sort)
if [ "${#targets[@]}" -eq 0 ]; then
  echo "there is no fuzz target" >&2
  exit 1
fi
for target in "${targets[@]}"; do
  package=./$(dirname "${target%%:*}")
  name=${target##*func }
  echo "== $package $name"
  go test "$package" -run '^$' -fuzz "^$name\$" -fuzztime "$time"
done
