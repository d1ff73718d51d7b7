package replacements

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestReplacementsMatchTheOperatorsRecordedDecisions compares which process groups are replaced with the
// operator's recorded decisions.
func TestReplacementsMatchTheOperatorsRecordedDecisions(t *testing.T) {
	opcases.Suite{Package: opcases.Replacements, Comparisons: map[string]opcases.Comparison{
		"api_v1beta2/v1beta2.ProcessGroupStatus.NeedsReplacementWithConditions.jsonl.gz": compareFailedTooLong,
		"c_replace/replacements.ReplaceFailedProcessGroups.jsonl.gz":                     compareReplaceFailed,
		"internal_replacements/replacements.nodeTaintReplacementsAllowed.jsonl.gz":       compareTaintSpread,
		"internal_replacements/replacements.processGroupNeedsRemovalForPVC.jsonl.gz":     compareClaimDiffers,
		"internal_replacements/replacements.processGroupNeedsRemovalForPod.jsonl.gz":     comparePodDiffers,
	}}.Run(t)
}

// compareFailedTooLong compares when a process group has failed for long enough.
func compareFailedTooLong(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		Now     opcases.Seconds            `json:"now"`
		Self    v1beta2.ProcessGroupStatus `json:"self"`
		Failure int64                      `json:"failureTime"`
		Taint   int64                      `json:"taintReplacementTime"`
	}
	var out struct {
		R0 string `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	before := func(seconds int64) time.Time { return in.Now.Time().Add(-time.Duration(seconds) * time.Second) }
	failed := failedSince(&in.Self, isFailure, before(in.Failure)) || failedSince(&in.Self, isTaint, before(in.Taint))
	return opcases.Verdict(out.R0 != ""), opcases.Verdict(failed), nil
}

// compareReplaceFailed compares which process groups are marked, and whether any is marked.
func compareReplaceFailed(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in stagestest.RecordedInput
	var out struct {
		Marked bool                         `json:"r0"`
		After  *v1beta2.FoundationDBCluster `json:"after_cluster"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	before := map[v1beta2.ProcessGroupID]bool{}
	for _, g := range in.Cluster.Status.ProcessGroups {
		before[g.ProcessGroupID] = g.IsMarkedForRemoval()
	}
	var recorded, marked []v1beta2.ProcessGroupID
	for _, g := range out.After.Status.ProcessGroups {
		if g.IsMarkedForRemoval() && !before[g.ProcessGroupID] {
			recorded = append(recorded, g.ProcessGroupID)
		}
	}
	in.Cluster.Status.Configured = true // the operator checks it before it calls the function
	for _, action := range ReplaceFailedPods.Decide(in.Snapshot(&in.Status.Status)).Actions {
		if mark, ok := action.(plan.MarkForRemoval); ok {
			marked = append(marked, mark.Groups...)
		}
	}
	slices.Sort(recorded)
	slices.Sort(marked)
	return opcases.Outcome{"groups": fmt.Sprint(recorded), "any": fmt.Sprint(out.Marked)},
		opcases.Outcome{"groups": fmt.Sprint(marked), "any": fmt.Sprint(len(marked) > 0)}, nil
}

// compareTaintSpread compares when few enough fault domains are tainted.
func compareTaintSpread(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in stagestest.RecordedInput
	var out stagestest.RecordedVerdict
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	return out.Outcome(), opcases.Verdict(taintsSpread(in.Snapshot(nil)).few()), nil
}

// compareClaimDiffers compares when a process group is replaced because of its PVC.
func compareClaimDiffers(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		stagestest.RecordedInput
		Claim corev1.PersistentVolumeClaim `json:"pvc"`
	}
	var out stagestest.RecordedVerdict
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	if in.Cluster, err = in.Cluster.Normalized(); err != nil {
		return nil, nil, err
	}
	s := in.Snapshot(nil)
	s.Volumes = map[string]*corev1.PersistentVolumeClaim{in.Claim.Name: &in.Claim}
	wrong, err := readings.ClaimDiffers(readings.NewInspection(s, plan.Options{}), in.ProcessGroup, nil)
	return out.Outcome(), opcases.Verdict(wrong != "" && err == nil), nil
}

// comparePodDiffers compares when a process group is replaced because of its pod.
func comparePodDiffers(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		stagestest.RecordedInput
		Pod     *corev1.Pod `json:"pod"`
		Context bool        `json:"replaceOnSecurityContextChange"`
	}
	var out stagestest.RecordedVerdict
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	if in.Cluster, err = in.Cluster.Normalized(); err != nil {
		return nil, nil, err
	}
	s := in.Snapshot(nil)
	s.Pods = map[string]*corev1.Pod{}
	if in.Pod != nil {
		s.Pods[in.ProcessGroup.PodName(in.Cluster)] = in.Pod
	}
	reason, err := readings.NewInspection(s, plan.Options{ReplaceOnSecurityContextChange: in.Context}).Group(in.ProcessGroup)
	return out.Outcome(), opcases.Verdict(reason != "" && err == nil), nil
}
