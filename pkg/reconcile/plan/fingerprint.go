package plan

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Fingerprint identifies what an action does: its kind and every field that changes what is
// done, payloads included. Two actions with the same fingerprint do the same thing, whatever
// their descriptions. It has the form "sha256:" and 64 hex digits.
//
// A field tagged `fingerprint:"-"` does not count: the time of the action, or text that only
// explains. One tagged `fingerprint:"presence"` counts as empty or not. The metadata of
// Kubernetes objects that the API server maintains does not count.
func Fingerprint(a Action) string {
	text, err := json.Marshal(struct {
		Kind string
		Does any
	}{KindOf(a), canonical(reflect.ValueOf(a))})
	if err != nil {
		panic(err) // the types of actions are ours, and all of them encode
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ownPackage is where the structs are whose fields are taken one by one: their JSON leaves
// payloads out.
var ownPackage = reflect.TypeFor[Effect]().PkgPath()

// identified is a value that returns the part of it that counts.
type identified interface{ identity() any }

// canonical is a value in a form whose JSON is the same for the same content.
func canonical(v reflect.Value) any {
	switch v.Kind() { //nolint:exhaustive // all others are their own form
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if object, ok := reflect.TypeAssert[runtime.Object](v); ok {
			return withoutBookkeeping(object)
		}
		return canonical(v.Elem())
	case reflect.Map:
		if v.Len() == 0 {
			return nil // as JSON that leaves it out reads back
		}
	case reflect.Slice, reflect.Array:
		if v.Len() == 0 {
			return nil
		}
		each := make([]any, v.Len())
		for i := range each {
			each[i] = canonical(v.Index(i))
		}
		return each
	case reflect.Struct:
		if known, ok := reflect.TypeAssert[identified](v); ok {
			return known.identity()
		}
		if _, encodes := reflect.TypeAssert[encoding.TextMarshaler](v); !encodes && v.Type().PkgPath() == ownPackage {
			return fields(v)
		}
	}
	return v.Interface()
}

// fields are the fields of one of our structs that count. encoding/json writes the keys of a
// map in order.
func fields(v reflect.Value) map[string]any {
	counted := map[string]any{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		switch field.Tag.Get("fingerprint") {
		case "-":
		case "presence":
			counted[field.Name] = !v.Field(i).IsZero()
		default:
			counted[field.Name] = canonical(v.Field(i))
		}
	}
	return counted
}

// withoutBookkeeping is an object without the metadata that the API server maintains.
func withoutBookkeeping(object runtime.Object) any {
	object = object.DeepCopyObject()
	if meta, ok := object.(metav1.Object); ok {
		meta.SetResourceVersion("")
		meta.SetGeneration(0)
		meta.SetManagedFields(nil)
		meta.SetCreationTimestamp(metav1.Time{})
		ownedByName(meta)
	}
	return object
}

// ownedByName leaves out the UIDs of owning resources, in labels too: a plan can be made before its resource exists. That it
// is carried out for the resource of the plan alone is compared by itself.
func ownedByName(o metav1.Object) {
	owners, labels := slices.Clone(o.GetOwnerReferences()), maps.Clone(o.GetLabels())
	for i := range owners {
		if group, _, _ := strings.Cut(owners[i].APIVersion, "/"); group != v1beta2.GroupVersion.Group {
			continue
		}
		for label, value := range labels {
			if value == string(owners[i].UID) {
				labels[label] = ""
			}
		}
		owners[i].UID = ""
	}
	o.SetOwnerReferences(owners)
	o.SetLabels(labels)
}

// HashMemo remembers the hashes of pod specs for all that compare the same process groups: the
// stages of a pass, and the passes of a forecast. They are remembered by all that specs depend on beside
// their process group, so a memo never returns the hash of another spec, whatever changes. It may be
// used by several goroutines at once. A nil memo remembers nothing.
type HashMemo struct {
	mu   sync.Mutex
	kept []keptHashes // the latest last
}

type keptHashes struct {
	inputs *v1beta2.FoundationDBCluster
	hashes any
}

// NewHashMemo returns a memo that knows nothing yet.
func NewHashMemo() *HashMemo { return &HashMemo{} }

// mostKept is how many different clusters a memo remembers: a spec, and the versions that it runs meanwhile.
const mostKept = 8

// Of returns what is remembered for these parts of a cluster; what begin returns where that is nothing. Begin gets a copy, which
// does not change.
func (m *HashMemo) Of(inputs *v1beta2.FoundationDBCluster, begin func(*v1beta2.FoundationDBCluster) any) any {
	if m == nil {
		return begin(inputs)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range slices.Backward(m.kept) {
		if reflect.DeepEqual(k.inputs, inputs) {
			return k.hashes
		}
	}
	inputs = inputs.DeepCopy()
	m.kept = append(m.kept[max(0, len(m.kept)-mostKept+1):], keptHashes{inputs, begin(inputs)})
	return m.kept[len(m.kept)-1].hashes
}

// GroupsOf returns the process groups of an action, none for one about the cluster or the
// database as a whole. An action that only writes the status of all groups has none.
func GroupsOf(a Action) []v1beta2.ProcessGroupID {
	switch a := a.(type) { //nolint:gochecksumtype // groupOf has those about one group
	case AddGroups:
		return each(a.Groups, func(g NewGroup) v1beta2.ProcessGroupID { return g.ID })
	case DeletePods:
		return each(a.Pods, func(p PodOfGroup) v1beta2.ProcessGroupID { return p.Group })
	case ChangeLists:
		return a.groups()
	case MarkForRemoval:
		return a.Groups
	case KeepGroups:
		return a.Groups
	case SetExcluded:
		return a.Groups
	case Exclude:
		return a.Groups
	case Include:
		return a.Groups
	case IncludeAndForget:
		return a.Groups
	case RestartProcesses:
		return a.Groups
	case StartMaintenance:
		return a.Groups
	case ForgetMaintenance:
		return a.Groups
	case AnnounceUpgrade:
		return a.Groups
	case WithdrawUpgrade:
		return a.Groups
	case RecordFailures:
		return a.Groups
	default:
		return one(groupOf(a))
	}
}

// groupOf is the process group of an action about a single one; empty for others.
func groupOf(a Action) v1beta2.ProcessGroupID {
	switch a := a.(type) { //nolint:gochecksumtype // GroupsOf has the ones about several; all others are about none
	case CreatePod:
		return a.Group
	case CreatePVC:
		return a.Group
	case ApplyService:
		return a.Group
	case SyncPodFiles:
		return a.Group
	case PatchMetadata:
		return a.Group
	case AdoptSpec:
		return a.Group
	case SetSidecarImage:
		return a.Group
	case DeleteGroupObjects:
		return a.Group
	}
	return ""
}

func one(id v1beta2.ProcessGroupID) []v1beta2.ProcessGroupID {
	if id == "" {
		return nil
	}
	return []v1beta2.ProcessGroupID{id}
}

func each[T any](of []T, id func(T) v1beta2.ProcessGroupID) []v1beta2.ProcessGroupID {
	ids := make([]v1beta2.ProcessGroupID, len(of))
	for i, item := range of {
		ids[i] = id(item)
	}
	return ids
}

// groups are those of the entries that change, in order.
func (a ChangeLists) groups() []v1beta2.ProcessGroupID {
	groups := slices.Collect(maps.Keys(a.Addresses))
	for _, lists := range []map[fdb.SharedList][]v1beta2.ProcessGroupID{a.Add, a.Remove} {
		for _, of := range lists {
			groups = append(groups, of...)
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}
