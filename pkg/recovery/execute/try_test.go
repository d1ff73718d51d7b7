package execute

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// A server dry run asks about each volume, PVC and pod of the plan, and changes none.
func TestAServerDryRunOfARecoveryChangesNothing(t *testing.T) {
	l := newLost(t, releasedFor(t, 1)...)
	dropClaims(l, 1)
	p := l.plan()
	refused := errors.New("quota")
	ask := func(_ context.Context, a plan.Action) (bool, error) {
		switch a := a.(type) { //nolint:gochecksumtype // a test asks about these
		case plan.CreatePVC:
			if a.Object.Spec.VolumeName != p.Bind[0].Volume {
				t.Errorf("the PVC is of volume %q", a.Object.Spec.VolumeName)
			}
			return true, nil
		case plan.CreatePod:
			if a.Name == p.Create[0].Pod {
				return true, refused
			}
			return true, nil
		default:
			return false, nil
		}
	}
	before := l.volumes(t.Context())[0].Spec.ClaimRef.UID
	answers, err := Run{Cluster: l, Client: client.NewDryRunClient(l.client)}.Try(t.Context(), p, ask)
	if err != nil {
		t.Fatal(err)
	}
	asked, rejected := map[recovery.Step]int{}, 0
	for _, a := range answers {
		if a.Asked {
			asked[a.Step]++
		}
		if errors.Is(a.Err, refused) {
			rejected++
		}
	}
	if asked[recovery.StepReserveVolumes] != 1 || asked[recovery.StepPVCs] != 1 || asked[recovery.StepPods] == 0 || asked[recovery.StepAvailable] != 0 || len(answers) <= len(asked) {
		t.Errorf("asked %v, answers %+v", asked, answers)
	}
	if rejected != 1 {
		t.Errorf("%d rejections, want 1", rejected)
	}
	if now := l.volumes(t.Context())[0].Spec.ClaimRef.UID; now != before || len(l.steps) > 0 || len(l.seen.Pods) > 0 {
		t.Errorf("it changed something: %s, %s", now, strings.Join(l.steps, ", "))
	}
}
