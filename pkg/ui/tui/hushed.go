package tui

import "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/hush"

// By now all that this package imports is initialised.
var _ = hush.Over()
