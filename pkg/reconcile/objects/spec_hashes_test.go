package objects

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The short way has to end at the very hash of the long one, for every kind of pod.
func TestFastSpecHashesEqualFullSpecHashes(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			c := sample(t, kind.given...)
			hashes := NewSpecHashes(c)
			groups := []*v1beta2.ProcessGroupStatus{kind.group}
			for _, class := range []v1beta2.ProcessClass{v1beta2.ProcessClassStorage, v1beta2.ProcessClassLog, v1beta2.ProcessClassStateless, v1beta2.ProcessClassClusterController} {
				for _, n := range []int{1, 7, 4500, 99999} { // 4500 is also a port
					groups = append(groups, group(class, c.ProcessGroupIDFor(class, n)), group(class, v1beta2.ProcessGroupID(fmt.Sprintf("old-%s-%d", class, n))))
				}
			}
			for _, g := range groups {
				want, err := hashes.whole(g)
				if err != nil {
					t.Fatal(err)
				}
				got, err := hashes.Of(g)
				if err != nil || got != want {
					t.Errorf("%s: got %s (%v), want %s", g.ProcessGroupID, got, err, want)
				}
			}
		})
	}
}

// A template whose text holds the stand-in's number by itself cannot be cut.
func TestATemplateThatContainsThePlaceholderIsHashedInFull(t *testing.T) {
	c := sample(t, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {
			PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{SchedulerName: fmt.Sprintf("scheduler-%d", standIn)}},
		}}
	})
	hashes := NewSpecHashes(c)
	want, err := hashes.whole(storage1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := hashes.Of(storage1); err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

// One memo for clusters that differ in anything must return what each has without a memo.
func TestTheSpecHashCacheNeverReturnsTheHashOfAnotherSpec(t *testing.T) {
	memo, distinct := plan.NewHashMemo(), map[string]bool{}
	for name, kind := range kinds {
		for _, change := range []func(*v1beta2.FoundationDBCluster){
			func(*v1beta2.FoundationDBCluster) {},
			func(c *v1beta2.FoundationDBCluster) { c.Spec.Version = "7.4.6" },
			func(c *v1beta2.FoundationDBCluster) { c.Status.RunningVersion = "7.1.26" },
			func(c *v1beta2.FoundationDBCluster) { c.Spec.MainContainer.EnableTLS = !c.Spec.MainContainer.EnableTLS },
		} {
			c := sample(t, kind.given...)
			change(c)
			hashes := RememberedSpecHashes(c, memo)
			for _, n := range []int{1, 7} {
				g := group(v1beta2.ProcessClassStorage, c.ProcessGroupIDFor(v1beta2.ProcessClassStorage, n))
				want, err := hashes.whole(g)
				if err != nil {
					t.Fatal(err)
				}
				distinct[want] = true
				for range 2 {
					if got, err := hashes.Of(g); err != nil || got != want {
						t.Errorf("%s, %s: got %s (%v), want %s", name, g.ProcessGroupID, got, err, want)
					}
				}
			}
		}
	}
	if len(distinct) < len(kinds) {
		t.Errorf("%d hashes are too few to show anything", len(distinct))
	}
}
