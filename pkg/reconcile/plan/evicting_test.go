package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An approval of a deletion is none of an eviction, and the other way round.
func TestEvictionsAndDeletionsHaveDifferentFingerprints(t *testing.T) {
	tests := map[string]struct{ deleted, evicted Action }{
		"pods to recreate":       {DeletePods{Pods: []PodOfGroup{{Group: "log-1", Name: "log-1"}}, Shared: true}, DeletePods{Pods: []PodOfGroup{{Group: "log-1", Name: "log-1"}}, Shared: true, Evict: true}},
		"objects with a pod":     {DeleteGroupObjects{Group: "log-1", Pod: "log-1", Claim: "data"}, DeleteGroupObjects{Group: "log-1", Pod: "log-1", Claim: "data", Evict: true}},
		"objects without a pod":  {DeleteGroupObjects{Group: "log-1", Claim: "data"}, DeleteGroupObjects{Group: "log-1", Claim: "data"}},
		"a pod of backup agents": {EvictAgent{Name: "agent"}, EvictAgent{Name: "agent", Evict: true}},
		"another deletion":       {DeleteService{Name: "sample"}, DeleteService{Name: "sample"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hold := &Hold{Code: HoldMorePodsFollow}
			stage := Evicting(Stage{Name: StageUpdatePods, Reads: Pods, Decide: func(Snapshot) Decision { return Decision{Actions: []Action{tc.deleted}, Hold: hold} }})
			d := stage.Decide(Snapshot{})
			if diff := cmp.Diff([]Action{tc.evicted}, d.Actions); diff != "" || d.Hold != hold || stage.Reads != Pods {
				t.Errorf("hold %v, reads %v, actions (-want +got):\n%s", d.Hold, stage.Reads, diff)
			}
			if changed := tc.deleted != nil && !cmp.Equal(tc.deleted, tc.evicted); changed != (Fingerprint(tc.deleted) != Fingerprint(tc.evicted)) {
				t.Errorf("the fingerprints of %q and %q are alike", tc.deleted.Describe(), tc.evicted.Describe())
			}
			if !cmp.Equal(tc.deleted, tc.evicted) && tc.deleted.Describe() == tc.evicted.Describe() {
				t.Errorf("both are described as %q", tc.deleted.Describe())
			}
		})
	}
}
