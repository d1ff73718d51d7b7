#!/usr/bin/env bash
# Writes everything that is generated: deep copies of the API types, the CRDs,
# and the reference pages. Run it after every change of api/, of a command's help
# or of a package's imports; CI runs it and expects no difference.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

generate() { go tool -modfile=tools/go.mod controller-gen "$@"; }

generate object paths=./api/...
# No descriptions: with those of the embedded pod templates the CRDs would be
# too large for kubectl apply. Embedded metadata keeps its labels.
generate crd:maxDescLen=0,crdVersions=v1,generateEmbeddedObjectMeta=true \
  paths=./api/... output:crd:dir=manifests/crd

# The template of failureDetectionCronJob is merged over a CronJob that has both,
# while a CronJobSpec of its own requires them.
perl -0pi -e 's/ *required:\n *- jobTemplate\n *- schedule\n//' manifests/crd/apps.foundationdb.org_foundationdbclusters.yaml

rm -rf docs/commands
go run ./cmd/kubectl-fdb docs --dir docs/commands --pages .. >/dev/null

# Pages that a test compares with their sources.
go test -vet=off -count=1 ./docs -run 'MatchesItsSource$' -update >/dev/null
