package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// CheckDeletion ends a pass over a FoundationDBCluster that is being deleted, or whose namespace is:
// Kubernetes deletes all of its objects as soon as the last finalizer is removed, so nothing that a pass
// creates lasts, and data that it moves is lost with the rest. Passes of other commands end at the gate
// of the same name.
//
// The operator reconciles such a cluster as any other.
var CheckDeletion = plan.Stage{
	Name:  plan.StageCheckDeletion,
	Reads: plan.ClusterResource | plan.Namespace,
	Decide: func(s plan.Snapshot) plan.Decision {
		c := safety.NotDeleted(s)
		if c.OK {
			return plan.Decision{Checks: []plan.Check{c}}
		}
		return plan.Decision{Checks: []plan.Check{c}, Hold: &plan.Hold{Code: plan.HoldBeingDeleted, Manual: true, Reason: c.Evidence, Then: plan.EndPass}}
	},
}

// CheckDistribution ends the pass where spec.distributionConfig has too few fault domains for
// coordinators and replicas: later stages would create and replace pods for it. It does not where
// the pods are packed so already, nor where a user overrides the gate. It also ends the pass where
// the API server dropped the field and pods are packed: later stages would recreate all of them.
var CheckDistribution = plan.Stage{
	Name:  plan.StageCheckDistribution,
	Reads: plan.ClusterResource | plan.Pods,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !distribution.Of(s.Cluster).Enabled() {
			return keepsDropped(s)
		}
		check := safety.DistributionHolds(s.Cluster)
		if !check.OK && readings.DistributionInForce(s) {
			check.OK, check.Evidence = true, check.Evidence+"; the pods are packed so already"
		}
		if why := s.Overrides[plan.GateConfig]; !check.OK && why != "" {
			check.OK, check.Evidence = true, check.Evidence+"; overridden: "+why
		}
		d := plan.Decision{Checks: []plan.Check{check}}
		if !check.OK {
			d.Hold = &plan.Hold{
				Code: plan.HoldDistributionRefused, Manual: true, Then: plan.EndPass,
				Reason: "nothing is created or replaced for spec.distributionConfig: raise desiredFaultDomains, disable it, or override " + string(plan.GateConfig),
				Detail: check.Evidence,
			}
		}
		return d
	},
}

// keepsDropped refuses a pass without packing where the API server dropped the field and pods are
// packed.
func keepsDropped(s plan.Snapshot) plan.Decision {
	if !slices.Contains(s.Cluster.DroppedFields(), v1beta2.ExtensionDistributionConfig) {
		return plan.Decision{}
	}
	packed := 0
	for _, g := range s.Remaining() {
		if pod := s.Pod(g); pod != nil && objects.DistributionKeyOf(pod) != "" {
			packed++
		}
	}
	if packed == 0 {
		return plan.Decision{}
	}
	return plan.Decision{Hold: &plan.Hold{
		Code: plan.HoldDistributionRefused, Manual: true, Then: plan.EndPass,
		Reason: fmt.Sprintf("%s %s a distribution key, and the API server dropped %s: they would all be recreated without it", phrase.Count(packed, "pod"), phrase.Has(packed), v1beta2.ExtensionDistributionConfig),
	}}
}

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

// CheckTemplates returns a stage that ends a pass over a cluster with a pod template that the restrictions of
// the run forbid. It is the first one, before anything is written: who may change a FoundationDBCluster would
// otherwise have pods with rights that only the run has.
func CheckTemplates(r objects.TemplateRestrictions) plan.Stage {
	return plan.Stage{
		Name:  plan.StageCheckTemplates,
		Reads: plan.ClusterResource,
		Decide: func(s plan.Snapshot) plan.Decision {
			forbidden, err := r.OfCluster(s.Cluster)
			if err != nil {
				d := readings.InvalidSpec(err)
				d.Hold.Then = plan.EndPass
				return d
			}
			return readings.TemplatesAllowed(forbidden)
		},
	}
}
