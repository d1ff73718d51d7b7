#!/usr/bin/env bash
# Brings a FoundationDB cluster up from nothing: a real Kubernetes API server on
# this machine, the CRDs, a cluster, one `kubectl fdb reconcile`.
# Usage: hack/demo.sh DIR. Needs what `make build build-sandbox` builds.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
bin=$PWD/bin
export PATH="$bin:$PATH"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "1/5 Starting the sandbox in $dir"
fdb-sandbox up --dir "$dir" --nodes 5 --zones 5 --detach
export KUBECONFIG=$PWD/$dir/kubeconfig
[ "${dir:0:1}" = / ] && export KUBECONFIG=$dir/kubeconfig

say "2/5 Applying the CRDs"
kubectl apply --server-side -f manifests/crd
kubectl wait --for=condition=Established --timeout=30s crd/foundationdbclusters.apps.foundationdb.org

say "3/5 Applying a FoundationDBCluster"
kubectl apply -f manifests/examples/minimal.yaml

say "4/5 kubectl fdb reconcile sample-cluster --wait --yes"
kubectl fdb reconcile sample-cluster --wait --yes --timeout 5m

say "5/5 kubectl fdb status sample-cluster"
kubectl fdb status sample-cluster
kubectl fdb get process-groups sample-cluster

cat <<TEXT

The sandbox keeps running. To look around:

  export KUBECONFIG=$KUBECONFIG PATH=$bin:\$PATH
  kubectl fdb status sample-cluster
  kubectl get pods

\`make demo-stop\` ends it.
TEXT
