package apply

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// stages returns the stages of one pass, with the deletions that the flags choose.
func (c Change) stages() []plan.Stage {
	if !c.RespectPDB {
		return c.Stages
	}
	evicting := make([]plan.Stage, len(c.Stages))
	for i, s := range c.Stages {
		evicting[i] = plan.Evicting(s)
	}
	return evicting
}

// required returns the permissions that the command needs, with those of its flags.
func (c Change) required() []session.Permission {
	if !c.RespectPDB {
		return c.Permissions
	}
	return append(slices.Clone(c.Permissions), session.EvictPermissions()...)
}
