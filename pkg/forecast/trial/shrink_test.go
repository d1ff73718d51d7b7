package trial

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// shortest leaves out steps of a life for as long as the same sentence stays violated:
// first half of them at a time, then smaller pieces, in the end single ones.
func shortest(t *testing.T, l life, wrong mutation, sentence string) life {
	t.Helper()
	for size := max(len(l.steps)/2, 1); ; size /= 2 {
		for from := 0; from < len(l.steps); {
			shorter := life{seed: l.seed, steps: slices.Delete(slices.Clone(l.steps), from, min(from+size, len(l.steps)))}
			if found := shorter.play(t, wrong, nil); len(found) > 0 && found[0].Sentence == sentence {
				l = shorter
			} else {
				from += size
			}
		}
		if size <= 1 {
			return l
		}
	}
}

// Two troubles out of ten make this plugin go wrong; the story is to tell of those two.
func TestAFailingSimulationIsShrunkToItsRelevantSteps(t *testing.T) {
	t.Parallel()
	const sentence = "no database is created over one that exists"
	wrong := rogue(func(_ *History, s plan.Snapshot) []plan.Action {
		if counts := s.Cluster.Spec.ProcessCounts; counts.Log != 7 || counts.ClusterController != 1 {
			return nil
		}
		return []plan.Action{plan.Configure{New: true, Command: "configure new double ssd"}}
	})
	marker := func(name string, change func(*v1beta2.ProcessCounts)) step {
		return step{wait: time.Minute, problem: problem{name: name, happen: func(h *History, _ *rand.Rand) {
			h.edit(func(s *v1beta2.FoundationDBClusterSpec) { change(&s.ProcessCounts) })
		}}}
	}
	l := lifeOf(3)
	l.steps = l.steps[:8]
	l.steps = slices.Insert(l.steps, 2, marker("a controller", func(c *v1beta2.ProcessCounts) { c.ClusterController = 1 }))
	l.steps = slices.Insert(l.steps, 6, marker("seven logs", func(c *v1beta2.ProcessCounts) { c.Log = 7 }))
	if found := l.play(t, wrong, nil); len(found) != 1 || found[0].Sentence != sentence {
		t.Fatalf("violations: %v", found)
	}
	var left []string
	for _, s := range shortest(t, l, wrong, sentence).steps {
		left = append(left, s.problem.name)
	}
	if diff := cmp.Diff([]string{"a controller", "seven logs"}, left); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}
