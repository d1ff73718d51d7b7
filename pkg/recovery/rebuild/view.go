package rebuild

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// View is the document of `recover manifest`.
type View struct {
	inspect.Document
	Manifest
}

// NewView makes the document.
func NewView(m inspect.Metadata, asOf time.Time, manifest Manifest, warnings []string) View {
	v := View{Document: inspect.NewDocument("RecoveryManifest", m, asOf, inspect.SourceLive), Manifest: manifest}
	v.Warnings = append(v.Warnings, warnings...)
	return v
}
