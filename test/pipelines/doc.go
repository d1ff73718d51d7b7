// Package pipelines runs the manifests for pipelines as their systems do, with an API of GitHub on loopback.
package pipelines
