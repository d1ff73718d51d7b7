package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// CheckFields returns a stage that reports those of the fields which an API server with the CRD
// of the operator dropped from the applied manifest; without any, all that it can drop.
//
// A dropped list of process groups to keep ends the pass: later stages would drain and delete
// them. The other fields keep nothing from being reconciled.
func CheckFields(of ...v1beta2.Extension) plan.Stage {
	return plan.Stage{
		Name:  plan.StageCheckFields,
		Reads: plan.ClusterResource,
		Decide: func(s plan.Snapshot) plan.Decision {
			relevant := func(f v1beta2.Extension) bool { return len(of) == 0 || slices.Contains(of, f) }
			var d plan.Decision
			for _, f := range s.Cluster.UsedExtensions() {
				if relevant(f) {
					d.Checks = append(d.Checks, fieldKept(f))
				}
			}
			var words []string
			then := plan.CarryOn
			for _, f := range s.Cluster.DroppedFields() {
				if !relevant(f) {
					continue
				}
				if f == v1beta2.ExtensionCancelReplacements {
					then = plan.EndPass
				}
				d.Checks = append(d.Checks, fieldDropped(f))
				words = append(words, fmt.Sprintf("the API server dropped %s: install manifests/crd, use the annotation %s, or apply a manifest without the field", f, f.Annotation()))
			}
			if len(words) > 0 {
				d.Hold = &plan.Hold{Code: plan.HoldFieldsDropped, Manual: true, Reason: strings.Join(words, "; "), Then: then}
			}
			return d
		},
	}
}

func fieldKept(f v1beta2.Extension) plan.Check {
	return plan.Check{ID: plan.CheckFieldKept, Subject: string(f), Question: fmt.Sprintf("did the API server keep %s?", f), OK: true, Evidence: fmt.Sprintf("%s is set", f)}
}

func fieldDropped(f v1beta2.Extension) plan.Check {
	c := fieldKept(f)
	c.OK, c.Evidence = false, fmt.Sprintf("%s is in the last applied manifest and not in the FoundationDBCluster", f)
	return c
}
