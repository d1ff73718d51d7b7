package v1beta2

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// TestAnEmptyClusterIsEncodedAsByTheOperator: structs held by value are
// written although they are empty.
func TestAnEmptyClusterIsEncodedAsByTheOperator(t *testing.T) {
	want := `{"metadata":{},"spec":{"version":"","databaseConfiguration":{},"processCounts":{},` +
		`"partialConnectionString":{},"faultDomain":{},"mainContainer":{},"sidecarContainer":{},` +
		`"automationOptions":{"replacements":{},"maintenanceModeOptions":{}},"lockOptions":{},"routing":{},"buggify":{},"labels":{}},` +
		`"status":{"databaseConfiguration":{},"generations":{},"health":{},"requiredAddresses":{},"locks":{},"maintenanceModeInfo":{}}}`
	got, err := json.Marshal(FoundationDBCluster{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("empty cluster (-want +got):\n%s", diff)
	}
}

func TestUnusualJSONFieldNamesAreDecoded(t *testing.T) {
	text := `{"spec":{"version":"7.3.79","mainContainer":{"enableTls":true},"routing":{"useDNSInClusterFile":false},
		"labels":{"filterOnOwnerReference":true},"processCounts":{"router":1,"backup":2},
		"automationOptions":{"ignorePendingPodsDuration":1000000000,"maintenanceModeOptions":{"UseMaintenanceModeChecker":true}},
		"databaseConfiguration":{"logs":4,"log_spill":2}},
		"status":{"generations":{"missingDatabaseStatus":5},"locks":{"lockDenyList":["a"]},
		"processGroups":[{"removalTimestamp":"2026-11-20T12:00:00Z","processGroupConditions":[{"type":"MissingPod","timestamp":1795176000}]}]}}`
	var c FoundationDBCluster
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	group := c.Status.ProcessGroups[0]
	since, _ := group.Condition(ConditionMissingPod)
	got := []any{
		c.Spec.MainContainer.EnableTLS, c.UseDNSInClusterFile(), c.FilterOnOwnerReference(), c.Spec.ProcessCounts.Router,
		c.Spec.ProcessCounts.Backup, c.IgnorePendingPodsFor(), c.UseMaintenanceModeChecker(), c.Spec.DatabaseConfiguration.Logs,
		c.Spec.DatabaseConfiguration.LogSpill, c.Status.Generations.MissingDatabaseStatus, c.Status.Locks.LockDenyList[0],
		group.RemovalTimestamp.UTC(), since,
	}
	want := []any{true, false, true, 1, 2, time.Second, true, 4, 2, int64(5), "a", noon, noon}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestTheSchemeRecognizesAllKinds(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"FoundationDBCluster", "FoundationDBBackup", "FoundationDBRestore"} {
		for _, name := range []string{kind, kind + "List"} {
			if !scheme.Recognizes(GroupVersion.WithKind(name)) {
				t.Errorf("the scheme does not know %s", name)
			}
		}
	}
}

// TestDeepCopiesAreEqualAndIndependent fills resources at random: a copy is equal,
// survives JSON, and does not change with the original.
func TestDeepCopiesAreEqualAndIndependent(t *testing.T) {
	for seed := range int64(60) {
		filler := randfill.New().RandSource(rand.NewSource(seed)).NilChance(0.3).NumElements(1, 3).MaxDepth(12).Funcs(fillTime, fillQuantity, fillIntOrString, fillFields)
		var c FoundationDBCluster
		var b FoundationDBBackup
		var r FoundationDBRestore
		filler.Fill(&c.Spec)
		filler.Fill(&c.Status)
		filler.Fill(&b.Spec)
		filler.Fill(&b.Status)
		filler.Fill(&r.Spec)
		checkCopy(t, seed, &c, c.DeepCopy())
		checkCopy(t, seed, &b, b.DeepCopy())
		checkCopy(t, seed, &r, r.DeepCopy())
	}
}

func checkCopy[T any](t *testing.T, seed int64, original, copied *T) {
	t.Helper()
	if !equality.Semantic.DeepEqual(original, copied) {
		t.Fatalf("seed %d: the copy differs:\n%s", seed, cmp.Diff(original, copied))
	}
	before, err := json.Marshal(copied)
	if err != nil {
		t.Fatal(err)
	}
	var decoded T
	if err := json.Unmarshal(before, &decoded); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(decoded)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(again)); diff != "" {
		t.Fatalf("seed %d: JSON does not survive (-before +after):\n%s", seed, diff)
	}
	scribble(reflect.ValueOf(original))
	after, err := json.Marshal(copied)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Fatalf("seed %d: the copy changes with the original", seed)
	}
}

// scribble changes everything that can be reached from a value, in place.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				scribble(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Map:
		for _, value := range v.Seq2() {
			scribble(value)
		}
		v.Clear()
	case reflect.String:
		if v.CanSet() {
			v.SetString("scribble")
		}
	case reflect.Bool:
		if v.CanSet() {
			v.SetBool(!v.Bool())
		}
	default: // numbers change along with the rest
	}
}

func TestOverwritingAResourceChangesSharedValues(t *testing.T) {
	shared := map[string]func(*FoundationDBCluster) any{
		"a pointer": func(c *FoundationDBCluster) any { return *c.Spec.ImageType },
		"a slice":   func(c *FoundationDBCluster) any { return c.Spec.TrustedCAs[0] },
		"a map":     func(c *FoundationDBCluster) any { return len(c.Spec.Labels.MatchLabels) },
		"a record":  func(c *FoundationDBCluster) any { return c.Status.ProcessGroups[0].ProcessGroupID },
	}
	for name, read := range shared {
		c := cluster(func(c *FoundationDBCluster) {
			c.Spec.ImageType = new(ImageTypeSplit)
			c.Spec.TrustedCAs = []string{"a"}
			c.Spec.Labels.MatchLabels = map[string]string{"a": "b"}
			c.Status.ProcessGroups = []*ProcessGroupStatus{group("log-1", "log")}
		})
		shallow, before := *c, read(c)
		scribble(reflect.ValueOf(c))
		if read(&shallow) == before {
			t.Errorf("%s shared with a shallow copy kept its value %v", name, before)
		}
	}
}

func fillTime(at *metav1.Time, c randfill.Continue) {
	at.Time = time.Unix(c.Int63n(4e9), 0)
}

func fillQuantity(q *resource.Quantity, c randfill.Continue) {
	*q = resource.MustParse(resource.NewQuantity(c.Int63n(1e6), resource.DecimalSI).String())
}

func fillIntOrString(v *intstr.IntOrString, c randfill.Continue) {
	*v = intstr.FromInt32(c.Int31())
}

// fillFields leaves raw JSON alone, of which not every value is one.
func fillFields(f *metav1.FieldsV1, _ randfill.Continue) { f.SetRawString(`{}`) }
