package lists

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// AccessView is the document of `auth can-i`.
type AccessView struct {
	inspect.Document
	// Allowed is whether every required permission is granted.
	Allowed bool             `json:"allowed"`
	Items   []PermissionView `json:"items"`
}

// PermissionView is one permission that a command needs.
type PermissionView struct {
	Command string `json:"command"`
	Verb    string `json:"verb"`
	// Resource is as kubectl writes it: "foundationdbclusters.apps.foundationdb.org/status".
	Resource string `json:"resource"`
	// Namespace is null for a permission in all namespaces.
	Namespace *string `json:"namespace"`
	Allowed   bool    `json:"allowed"`
	// Required is true where the command fails without it.
	Required bool `json:"required"`
	// Without is what the command leaves out without it; empty where it is required.
	Without string `json:"without,omitempty"`
}

// NewAccessView makes the document of the permissions that were checked.
func NewAccessView(m inspect.Metadata, items []PermissionView, now time.Time) AccessView {
	v := AccessView{Document: inspect.NewDocument("AccessReview", m, now, inspect.SourceLive), Allowed: true, Items: inspect.OrEmpty(items)}
	for _, p := range items {
		v.Allowed = v.Allowed && (p.Allowed || !p.Required)
	}
	return v
}
