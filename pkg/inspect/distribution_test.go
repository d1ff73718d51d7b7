package inspect_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// packed packs the pods of a cluster, each by its number.
func packed(t *testing.T, required bool) inspect.Facts {
	t.Helper()
	f := healthy(t)
	f.Cluster.Spec.DistributionConfig = &v1beta2.DistributionConfig{Enabled: new(true), DesiredFaultDomains: new(3), Required: &required}
	keys := f.Distribution()
	if keys == nil || keys.Unpacked == 0 {
		t.Fatalf("%+v", keys)
	}
	for _, g := range f.Groups() {
		key := string(g.ProcessClass) + "-" + string([]byte{"012"[g.ProcessGroupID[len(g.ProcessGroupID)-1]%3]})
		f.Pod(g).Labels = map[string]string{v1beta2.LabelDistributionKey: key}
	}
	return f
}

func TestWideListsShowDistributionKeysOfPackedPods(t *testing.T) {
	wide := func(f inspect.Facts) string {
		var b bytes.Buffer
		if err := ui.WriteList(&b, inspect.NewGroupListView(meta, f), ui.ListOptions{Wide: true, Now: noon}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if text := wide(packed(t, false)); !strings.Contains(text, "KEY") || !strings.Contains(text, "storage-1\n") {
		t.Errorf("no keys in:\n%s", text)
	}
	if text := wide(healthy(t)); strings.Contains(text, "KEY") {
		t.Errorf("keys of pods that are not packed:\n%s", text)
	}
}

func TestStatusShowsThePodDistribution(t *testing.T) {
	f := packed(t, false)
	use := f.Distribution()
	if text := string(screen(t, f, ui.StatusOptions{})); use.Unpacked != 0 || !strings.Contains(text, "  Distribution    "+use.Text()+"\n") || !strings.Contains(use.Text(), "of 3 fault domains, log ") {
		t.Errorf("no %q in:\n%s", use.Text(), text)
	}
	if text := string(screen(t, healthy(t), ui.StatusOptions{})); strings.Contains(text, "Distribution") {
		t.Errorf("of pods that are not packed:\n%s", text)
	}
}

// TestPendingPackedPodsNameTheRequiredFaultDomain has a pod of a bucket that other pods have too, and one of its own.
func TestPendingPackedPodsNameTheRequiredFaultDomain(t *testing.T) {
	for name, tc := range map[string]struct {
		required bool
		alone    bool
		unknown  bool // of all process groups, the fault domain
		want     string
	}{
		"its place is preferred": {},
		"its place is required":  {required: true, want: "; spec.distributionConfig.required lets it run only in fault domain "},
		"the zone is unknown":    {required: true, unknown: true, want: "; spec.distributionConfig.required lets it run only in the fault domain of node "},
		"it is the first":        {required: true, alone: true, want: "; spec.distributionConfig.required lets it run only in a fault domain without pods of other distribution keys than storage-9"},
	} {
		t.Run(name, func(t *testing.T) {
			f := packed(t, tc.required)
			g := f.Cluster.ProcessGroup("storage-3")
			pod := f.Pod(g)
			pod.Spec.NodeName, pod.CreationTimestamp.Time = "", noon.Add(-time.Hour)
			if tc.unknown {
				f.Database.Status = nil
				for _, other := range f.Groups() {
					other.FaultDomain = ""
				}
			}
			if tc.alone {
				pod.Labels[v1beta2.LabelDistributionKey] = "storage-9"
			} else {
				pod.Labels[v1beta2.LabelDistributionKey] = f.Pod(f.Cluster.ProcessGroup("storage-1")).Labels[v1beta2.LabelDistributionKey]
			}
			problem := f.ProblemOf(g)
			if problem == nil || !strings.Contains(problem.Message, "is Pending") || !strings.Contains(problem.Message, tc.want) || (tc.want == "") == strings.Contains(problem.Message, "required") {
				t.Errorf("%+v, want %q", problem, tc.want)
			}
		})
	}
}
