package safety

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// SuccessorAccepted checks that the API server accepts the objects of a new process group of a class, by a dry run.
// Without its successor a group that is marked for removal is missed until a user helps.
func SuccessorAccepted(s plan.Snapshot, class v1beta2.ProcessClass) plan.Check {
	c := plan.Check{
		ID: plan.CheckSuccessorAccepted, Subject: string(class), Gate: plan.GateAdmission,
		Question: fmt.Sprintf("does the API server accept pod and PVC of another %s process group?", class),
	}
	refused, isRefused := s.Successors.Refused[class]
	unknown, isUnknown := s.Successors.Unknown[class]
	switch {
	case !s.Successors.Read:
		c.Evidence = "cannot determine: no dry run was made"
	case isRefused:
		c.Evidence = refused.Rule() + ": " + refused.Message + "; " + refused.Remedy()
	case isUnknown:
		c.Evidence = "cannot determine: " + unknown
	default:
		c.OK, c.Evidence = true, "a dry run was accepted"
	}
	return c
}

// RecreationAccepted checks that the API server does not refuse the pods of a class as the spec has them, by a dry run. A
// quota is no refusal: the pod that is recreated frees its share. Nor is an unknown answer, since a webhook may refuse
// dry runs alone; the first pod proves its template then.
func RecreationAccepted(s plan.Snapshot, class v1beta2.ProcessClass) plan.Check {
	c := plan.Check{
		ID: plan.CheckSuccessorAccepted, Subject: string(class), Gate: plan.GateAdmission, OK: true, Evidence: "a dry run was accepted",
		Question: fmt.Sprintf("does the API server accept %s pods as the spec has them?", class),
	}
	refused, isRefused := s.Successors.Refused[class]
	unknown, isUnknown := s.Successors.Unknown[class]
	switch {
	case !s.Successors.Read:
		c.Evidence = "cannot determine: no dry run was made"
	case isUnknown:
		c.Evidence = "cannot determine: " + unknown
	case isRefused && (refused.ObjectKind != plan.WrittenPod || refused.Waits()):
		c.Evidence = refused.Rule() + " refuses one more process group; a recreated pod takes the place of the old one"
	case isRefused:
		c.OK, c.Evidence = false, refused.Rule()+": "+refused.Message+"; "+refused.Remedy()
	}
	return c
}
