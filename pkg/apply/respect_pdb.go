package apply

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// addRespectPDB adds the flag of commands whose passes delete pods.
func (f *ChangeFlags) addRespectPDB(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.respectPDB, "respect-pdb", false,
		"If true, delete pods by the eviction API, so that PodDisruptionBudgets and eviction webhooks can refuse: the stage then waits")
}

// stages returns the stages of one pass, with the deletions that the flags choose.
func (c Change) stages() []plan.Stage {
	if !c.respectPDB {
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
	if !c.respectPDB {
		return c.Permissions
	}
	return append(slices.Clone(c.Permissions), session.EvictPermissions()...)
}
