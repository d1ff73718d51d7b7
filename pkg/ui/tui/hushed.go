package tui

import "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/hush"

// By now all that this package imports is initialized.
var _ = hush.Over()
