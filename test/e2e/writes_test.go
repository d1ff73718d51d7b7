package e2e

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writesNothing fails the test when one more pass over a reconciled cluster changes anything.
// The pass has a field manager of its own, because kubelet and scheduler write to the same
// objects whenever they get to it.
func writesNothing(t *testing.T, ns, name string) {
	t.Helper()
	const manager = "one-more-pass"
	before := objectNames(t, ns)
	r := fdb(t, "reconcile", name, "-n", ns, "--yes", "--field-manager", manager)
	want(t, r, 0)
	if diff := cmp.Diff(before, objectNames(t, ns)); diff != "" {
		t.Errorf("a pass over a reconciled cluster added or removed objects (-before +after):\n%s\n%s", diff, r.stdout)
	}
	for object, fields := range writtenBy(t, ns, manager) {
		t.Errorf("a pass over a reconciled cluster wrote %s of %s:\n%s", fields, object, r.stdout)
	}
}

// objectNames lists what a pass creates and deletes.
func objectNames(t *testing.T, ns string) string {
	t.Helper()
	return kubectl(t, "get", "-n", ns, "foundationdbclusters,pods,persistentvolumeclaims,services,configmaps", "-o", "name")
}

// writtenBy returns the fields of each object that a field manager wrote.
func writtenBy(t *testing.T, ns, manager string) map[string]string {
	t.Helper()
	text := kubectl(t, "get", "-n", ns, "foundationdbclusters,pods,persistentvolumeclaims,services,configmaps,leases,events", "-o", "json", "--show-managed-fields")
	var list struct {
		Items []struct {
			Kind     string
			Metadata struct {
				Name          string
				ManagedFields []struct {
					Manager  string
					FieldsV1 json.RawMessage
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	for _, item := range list.Items {
		for _, entry := range item.Metadata.ManagedFields {
			if entry.Manager == manager {
				written[item.Kind+"/"+item.Metadata.Name] += string(entry.FieldsV1)
			}
		}
	}
	return written
}

// A test that looks for writes has to see one.
func TestWritesAreFoundByTheirFieldManager(t *testing.T) {
	ns := namespace(t)
	kubectl(t, "create", "configmap", "seen", "-n", ns, "--from-literal=a=b", "--field-manager", "other-manager")
	if found := writtenBy(t, ns, "other-manager"); len(found) != 1 || found["ConfigMap/seen"] == "" {
		t.Errorf("found %v", found)
	}
	if found := writtenBy(t, ns, "one-more-pass"); len(found) != 0 {
		t.Errorf("found %v", found)
	}
}
