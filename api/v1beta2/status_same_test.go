package v1beta2

import (
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func fullGroup() *ProcessGroupStatus {
	at := metav1.NewTime(time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC))
	return &ProcessGroupStatus{
		ProcessGroupID: "storage-1", ProcessClass: ProcessClassStorage, Addresses: []string{"10.1.1.1"}, RemovalTimestamp: &at, ExclusionTimestamp: &at,
		ExclusionSkipped: true, ProcessGroupConditions: []*ProcessGroupCondition{{Type: ConditionMissingPod, Timestamp: 7}}, FaultDomain: "zone-1",
	}
}

// Every field counts, those of a condition included: a change that is not compared is never written.
func TestStatusesDifferInEachFieldOfAProcessGroup(t *testing.T) {
	same := func(t *testing.T, field string, a, b *ProcessGroupStatus) {
		t.Helper()
		x, y := FoundationDBClusterStatus{ProcessGroups: []*ProcessGroupStatus{a}}, FoundationDBClusterStatus{ProcessGroups: []*ProcessGroupStatus{b}}
		if want := equality.Semantic.DeepEqual(x, y); x.SameAs(&y) != want || y.SameAs(&x) != want || a.SameAs(b) != want {
			t.Errorf("%s: not %t", field, want)
		}
	}
	same(t, "nothing", fullGroup(), fullGroup())
	for i := range reflect.TypeFor[ProcessGroupStatus]().NumField() {
		field, changed := reflect.TypeFor[ProcessGroupStatus]().Field(i).Name, fullGroup()
		if reflect.ValueOf(changed).Elem().Field(i).IsZero() {
			t.Fatalf("%s is not set: nothing is tested", field)
		}
		reflect.ValueOf(changed).Elem().Field(i).SetZero()
		same(t, field, fullGroup(), changed)
	}
	for i := range reflect.TypeFor[ProcessGroupCondition]().NumField() {
		changed := fullGroup()
		reflect.ValueOf(changed.ProcessGroupConditions[0]).Elem().Field(i).SetZero()
		same(t, reflect.TypeFor[ProcessGroupCondition]().Field(i).Name, fullGroup(), changed)
	}
	elsewhere, empty, absent := fullGroup(), fullGroup(), fullGroup()
	elsewhere.RemovalTimestamp = &metav1.Time{Time: elsewhere.RemovalTimestamp.In(time.FixedZone("X", 3600))}
	same(t, "time zone", fullGroup(), elsewhere)
	empty.Addresses, absent.Addresses = []string{}, nil
	same(t, "empty list", empty, absent)
	same(t, "no group", fullGroup(), nil)
}

func TestStatusesDifferInEachOtherField(t *testing.T) {
	for i := range reflect.TypeFor[FoundationDBClusterStatus]().NumField() {
		var a, b FoundationDBClusterStatus
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
		if a.SameAs(&b) || b.SameAs(&a) {
			t.Errorf("%s is not compared", reflect.TypeFor[FoundationDBClusterStatus]().Field(i).Name)
		}
	}
}
