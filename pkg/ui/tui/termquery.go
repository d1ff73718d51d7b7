package tui

import "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/termquery"

// By now all imports of this package are initialized.
var _ = termquery.Restore()
