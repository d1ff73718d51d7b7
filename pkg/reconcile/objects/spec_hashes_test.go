package objects

import (
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// directly is the hash of a spec that is built of the whole cluster and the whole process group.
func directly(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) (string, error) {
	spec, err := PodSpec(c, g)
	if err != nil {
		return "", err
	}
	return SpecHash(spec)
}

// Hashes are computed and remembered by parts of the cluster and of the process group. Whatever all their other fields have,
// they are the same.
func TestSpecHashesDependOnNothingThatTheyAreNotRememberedBy(t *testing.T) {
	fill, memo := randfill.NewWithSeed(1).NilChance(0.1).NumElements(1, 3), plan.NewHashMemo()
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			status := reflect.TypeFor[v1beta2.FoundationDBClusterStatus]()
			metadata := reflect.TypeFor[metav1.ObjectMeta]()
			group := reflect.TypeFor[v1beta2.ProcessGroupStatus]()
			for i := range status.NumField() + metadata.NumField() + group.NumField() {
				c, g := sample(t, kind.given...), kind.group.DeepCopy()
				var field reflect.Value
				switch {
				case i < status.NumField():
					field = reflect.ValueOf(&c.Status).Elem().Field(i)
				case i < status.NumField()+metadata.NumField():
					field = reflect.ValueOf(&c.ObjectMeta).Elem().Field(i - status.NumField())
				default:
					field = reflect.ValueOf(g).Elem().Field(i - status.NumField() - metadata.NumField())
				}
				fill.Fill(field.Addr().Interface())
				want, wantErr := directly(c, g)
				if got, err := RememberedSpecHashes(c, memo).Of(g); got != want || (err == nil) != (wantErr == nil) {
					t.Errorf("field %d of type %s: %s %v, want %s %v", i, field.Type(), got, err, want, wantErr)
				}
			}
		})
	}
}

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
				want, err := directly(c, g)
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
	want, err := directly(c, storage1)
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
				want, err := directly(c, g)
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
