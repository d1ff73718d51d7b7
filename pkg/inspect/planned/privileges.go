package planned

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Privileges returns those of the pod templates of the resource that a pass is about.
func Privileges(s plan.Snapshot) []objects.Privilege {
	switch {
	case s.Backup != nil:
		return objects.BackupPrivileges(s.Backup)
	case s.Restore != nil || s.Cluster == nil:
		return nil
	default:
		return objects.Privileges(s.Cluster)
	}
}
