package plan

import (
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func fullGroup() *v1beta2.ProcessGroupStatus {
	at := metav1.NewTime(time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC))
	return &v1beta2.ProcessGroupStatus{
		ProcessGroupID: "storage-1", ProcessClass: v1beta2.ProcessClassStorage, Addresses: []string{"10.1.1.1"}, RemovalTimestamp: &at, ExclusionTimestamp: &at,
		ExclusionSkipped: true, ProcessGroupConditions: []*v1beta2.ProcessGroupCondition{{Type: v1beta2.ConditionMissingPod, Timestamp: 7}}, FaultDomain: "zone-1",
	}
}

// Every field counts, those of a condition included: a change that is not compared is never written.
func TestStatusComparisonCoversEachProcessGroupField(t *testing.T) {
	same := func(t *testing.T, field string, a, b *v1beta2.ProcessGroupStatus) {
		t.Helper()
		x, y := v1beta2.FoundationDBClusterStatus{ProcessGroups: []*v1beta2.ProcessGroupStatus{a}}, v1beta2.FoundationDBClusterStatus{ProcessGroups: []*v1beta2.ProcessGroupStatus{b}}
		if want := equality.Semantic.DeepEqual(x, y); SameStatus(x, y) != want || SameStatus(y, x) != want || SameGroup(a, b) != want {
			t.Errorf("%s: not %t", field, want)
		}
	}
	same(t, "nothing", fullGroup(), fullGroup())
	for i := range reflect.TypeFor[v1beta2.ProcessGroupStatus]().NumField() {
		field, changed := reflect.TypeFor[v1beta2.ProcessGroupStatus]().Field(i).Name, fullGroup()
		if reflect.ValueOf(changed).Elem().Field(i).IsZero() {
			t.Fatalf("%s is not set: nothing is tested", field)
		}
		reflect.ValueOf(changed).Elem().Field(i).SetZero()
		same(t, field, fullGroup(), changed)
	}
	for i := range reflect.TypeFor[v1beta2.ProcessGroupCondition]().NumField() {
		changed := fullGroup()
		reflect.ValueOf(changed.ProcessGroupConditions[0]).Elem().Field(i).SetZero()
		same(t, reflect.TypeFor[v1beta2.ProcessGroupCondition]().Field(i).Name, fullGroup(), changed)
	}
	elsewhere, empty, absent := fullGroup(), fullGroup(), fullGroup()
	elsewhere.RemovalTimestamp = &metav1.Time{Time: elsewhere.RemovalTimestamp.In(time.FixedZone("X", 3600))}
	same(t, "time zone", fullGroup(), elsewhere)
	empty.Addresses, absent.Addresses = []string{}, nil
	same(t, "empty list", empty, absent)
	same(t, "no group", fullGroup(), nil)
}

func TestStatusComparisonCoversEachTopLevelField(t *testing.T) {
	for i := range reflect.TypeFor[v1beta2.FoundationDBClusterStatus]().NumField() {
		var a, b v1beta2.FoundationDBClusterStatus
		v := reflect.ValueOf(&b).Elem().Field(i)
		switch v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int64:
			v.SetInt(1)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		default:
			continue // a struct, compared as a whole
		}
		if SameStatus(a, b) || SameStatus(b, a) {
			t.Errorf("%s is not compared", reflect.TypeFor[v1beta2.FoundationDBClusterStatus]().Field(i).Name)
		}
	}
}
