// Package helm_test renders the Helm chart in manifests/helm/kubectl-fdb with Helm's own engine, and
// compares it with the Kustomize overlays. It is a module of its own, so that the plugin does not
// depend on Helm.
package helm_test
