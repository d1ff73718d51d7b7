#!/usr/bin/env bash
# Brings a FoundationDB cluster up from nothing: a real Kubernetes API server on
# this machine, the CRDs, a cluster, one `kubectl fdb reconcile`.
# Usage: hack/demo.sh DIR. Needs what `make build build-sandbox` builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dir=$(realpath -m "${1:?usage: hack/demo.sh DIR}")
bin=$PWD/bin
export PATH="$bin:$PATH" KUBECONFIG="$dir/kubeconfig"

for program in kubectl-fdb fdb-sandbox fdb-sandbox-tool; do
  if [ ! -x "$bin/$program" ]; then
    echo "bin/$program is missing: run make build build-sandbox" >&2
    exit 1
  fi
done
if ! command -v kubectl >/dev/null; then
  echo "kubectl is missing in bin and in the PATH: run make build-kubectl" >&2
  exit 1
fi

bold='' plain=''
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
run() {
  say "\$ $*"
  "$@"
}

echo "Starts an API server, creates a cluster of 16 pods and its database, and shows it: 40 s on two idle cores."

say "1/5 A Kubernetes API server with five nodes, in $dir"
if fdb-sandbox status --dir "$dir" >/dev/null 2>&1; then
  echo "it runs already; make demo-stop ends it"
else
  run fdb-sandbox up --dir "$dir" --nodes 5 --zones 5 --detach
fi

say "2/5 The custom resource definitions"
crd=crd/foundationdbclusters.apps.foundationdb.org
run kubectl apply --server-side -f manifests/crd
# Waiting for a condition fails at once while a new definition has none, or null instead of a list: try again.
established() {
  for _ in $(seq 60); do
    if kubectl wait --for=condition=Established --timeout=5s "$crd" 2>/dev/null; then return; fi
    sleep 1
  done
  kubectl wait --for=condition=Established --timeout=5s "$crd"
}
established

say "3/5 Create the FoundationDBCluster resource"
run kubectl apply -f manifests/examples/minimal.yaml

say "4/5 Reconcile: create the database"
run kubectl fdb reconcile sample-cluster --wait --yes --timeout "${DEMO_TIMEOUT:-5m}"

say "5/5 Cluster status"
run kubectl fdb wait sample-cluster --for=available,reconciled --timeout "${DEMO_TIMEOUT:-1m}"
run kubectl fdb status sample-cluster
run kubectl fdb get process-groups sample-cluster

cat <<TEXT

The sandbox keeps running. To look around:

  export KUBECONFIG=$KUBECONFIG PATH=$bin:\$PATH
  kubectl fdb status sample-cluster
  kubectl get pods

make demo-stop ends it and removes what it left.
TEXT
