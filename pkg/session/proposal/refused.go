package proposal

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// RefusedError is a manifest that would not be stored as its author wrote it.
type RefusedError struct {
	Manifest Manifest
	Kind     RefusalKind
	Problems []Problem
}

// RefusalKind is why fields of a manifest would not be stored.
type RefusalKind string

// The kinds.
const (
	// Mistyped is a manifest that is not one of its kind: the version, a required field or the type of a value.
	Mistyped RefusalKind = "mistyped"
	// Rejected is a value that the API server rejects.
	Rejected RefusalKind = "rejected"
	// Dropped is a field that the API server would drop, and Unknown one that this program does not know, where no API server reports it.
	Dropped RefusalKind = "dropped"
	Unknown RefusalKind = "unknown"
)

// Problem is one field that would not be stored.
type Problem struct {
	// Field is its path, such as spec.processCounts.storage.
	Field string
	// Message names the field, and what is wrong with it.
	Message string
}

// Error returns all problems with their places in the manifest.
func (e *RefusedError) Error() string {
	all := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		all[i] = e.Manifest.At(p.Field) + ": " + p.Message
	}
	text := strings.Join(all, "; ")
	switch e.Kind {
	case Rejected:
		return "the API server rejects " + e.Manifest.Title() + ": " + text
	case Dropped:
		return "the API server would drop " + phrase.Count(len(all), "field") + " of " + e.Manifest.Title() + ": " + text
	case Unknown:
		return e.Manifest.Object.GetKind() + " does not have " + phrase.Count(len(all), "field") + " of " + e.Manifest.Title() + ": " + text
	default:
		return text
	}
}
