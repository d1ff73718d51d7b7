// Package manifests holds the resource definitions and roles that installations need.
package manifests

import "embed"

// Files are crd/*.yaml and rbac/*.yaml.
//
//go:embed crd/*.yaml rbac/*.yaml
var Files embed.FS
