// Package runbooks holds the runbooks that the program comes with.
package runbooks

import "embed"

// Files are the runbooks, by NAME.yaml.
//
//go:embed *.yaml
var Files embed.FS
