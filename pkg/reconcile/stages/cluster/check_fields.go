package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// CheckFields returns a stage that reports those of the fields which an API server with the CRD
// of the operator dropped from the applied manifest; without any, all that it can drop.
//
// A dropped list of process groups to keep ends the pass: later stages would drain and delete
// them. The other fields keep nothing from being reconciled.
//
// Without any it also refuses to begin a cluster that cannot become a database, see firstObjects.
func CheckFields(of ...v1beta2.Extension) plan.Stage {
	stage := plan.Stage{Name: plan.StageCheckFields, Reads: plan.ClusterResource, Decide: func(s plan.Snapshot) plan.Decision { return droppedFields(s, of) }}
	if len(of) == 0 {
		stage.More = plan.FirstObjects
		stage.Matters = func(s plan.Snapshot) bool { return safety.Unbegun(s.Cluster) && safety.SpecHolds(s).OK }
		stage.Decide = func(s plan.Snapshot) plan.Decision { return firstObjects(s, droppedFields(s, nil)) }
	}
	return stage
}

func droppedFields(s plan.Snapshot, of []v1beta2.Extension) plan.Decision {
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
}

// firstObjects completes the decision about a cluster of which nothing exists: the pass ends before the first object
// where the spec alone shows that there will be no database, where a storage class does not exist, or where the API
// server refuses an object of some kind in a dry run. One that exists is reconciled as before: check finds what
// contradicts itself.
//
// The operator creates what it can, and then waits.
func firstObjects(s plan.Snapshot, d plan.Decision) plan.Decision {
	if !safety.Unbegun(s.Cluster) {
		return d
	}
	checks := []plan.Check{safety.SpecHolds(s)}
	if checks[0].OK && s.FirstObjects.Read {
		checks = append(checks, safety.StorageClassesExist(s), safety.FirstObjectsAccepted(s))
	}
	d.Checks = append(d.Checks, checks...)
	for _, c := range checks {
		if c.OK {
			continue
		}
		h := &plan.Hold{Code: plan.HoldSpecContradiction, Manual: true}
		if c.ID == plan.CheckFirstObjects {
			h = plan.RefusedHold(s.FirstObjects.Refused)
		}
		h.Reason, h.Detail, h.Then = "nothing is created", c.Evidence, plan.EndPass
		d.Hold = h
		return d
	}
	return d
}

func fieldKept(f v1beta2.Extension) plan.Check {
	return plan.Check{ID: plan.CheckFieldKept, Subject: string(f), Question: fmt.Sprintf("did the API server keep %s?", f), OK: true, Evidence: fmt.Sprintf("%s is set", f)}
}

func fieldDropped(f v1beta2.Extension) plan.Check {
	c := fieldKept(f)
	c.OK, c.Evidence = false, fmt.Sprintf("%s is in the last applied manifest and not in the FoundationDBCluster", f)
	return c
}
