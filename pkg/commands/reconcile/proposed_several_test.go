package reconcile_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// together is a file with a backup that gets two agents, and its cluster, which grows. The backup comes first in it.
func together(t *testing.T) string {
	t.Helper()
	return togetherWith(t, "{name: nightly}")
}

// togetherWith is that file with the metadata of its backup.
func togetherWith(t *testing.T, metadata string) string {
	t.Helper()
	return written(t, "together.yaml", `apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBBackup
metadata: `+metadata+`
spec:
  version: 7.3.79
  clusterName: sample
  agentCount: 2
  blobStoreConfiguration: {accountName: key@store, backupName: nightly, urlParameters: [region=eu]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: beside}
---
apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBCluster
metadata: {name: sample}
spec:
`+grown)
}

// readVault is a cluster with a backup and a restore, whose resources are read through the client.
func readVault(t *testing.T) *commandstest.Vault {
	t.Helper()
	v := commandstest.NewVault(t)
	v.Proposes = true
	v.Cluster.Acted = nil
	return v
}

// stored are the counts of storage processes and of agents in the specs.
func stored(t *testing.T, v *commandstest.Vault) (storage, agents int) {
	t.Helper()
	b := &v1beta2.FoundationDBBackup{}
	if err := v.API.Get(t.Context(), types.NamespacedName{Namespace: "fdb", Name: "nightly"}, b); err != nil {
		t.Fatal(err)
	}
	return v.Cluster.Resource.Spec.ProcessCounts.Storage, *b.Spec.AgentCount
}

func TestReconcileStoresSeveralResourcesAndCarriesThemOutInOrder(t *testing.T) {
	v := readVault(t)
	v.Run("reconcile", "-f", together(t), "--yes")
	if storage, agents := stored(t, v); storage != 6 || agents != 2 || len(v.Changes()) == 0 {
		t.Fatalf("%d storage processes, %d agents, did %v: %s%s", storage, agents, v.Changes(), &v.Out, &v.Err)
	}
	inOrder(t, v.Err.String(), "sample: stored the spec of", "fdbbackup/nightly: stored the spec of")
	inOrder(t, v.Out.String(), "sample\n", "fdbbackup/nightly\n", "sample: ", "fdbbackup/nightly: ")
	deployment := &appsv1.Deployment{}
	if err := v.API.Get(t.Context(), types.NamespacedName{Namespace: "fdb", Name: "nightly-backup-agents"}, deployment); err != nil || *deployment.Spec.Replicas != 2 {
		t.Errorf("agents: %v, %v", err, deployment.Spec.Replicas)
	}
}

func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	last := -1
	for _, part := range parts {
		at := strings.Index(text, part)
		if at <= last {
			t.Errorf("%q is not there, or not after the others, in\n%s", part, text)
		}
		last = at
	}
}

// All of the plans are verified before the first spec is stored.
func TestAListOfPlansIsCarriedOutForAllOfItsResourcesOrForNone(t *testing.T) {
	of := func(name string) func(t *testing.T, v *commandstest.Vault, path string) {
		return func(t *testing.T, v *commandstest.Vault, path string) {
			t.Helper()
			v.Run("reconcile", name, "-f", together(t), "--dry-run", "-o", "json")
			if err := os.WriteFile(path, v.Out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := map[string]struct {
		change func(t *testing.T, v *commandstest.Vault, path string)
		code   int
		want   string
		stored bool
	}{
		"as it was approved": {code: exit.ExitWaiting, want: "create a plan for the rest: kubectl fdb reconcile --filename ", stored: true},
		"a backup that changed meanwhile": {change: func(_ *testing.T, v *commandstest.Vault, _ string) {
			v.Edit(func(b *v1beta2.FoundationDBBackup) {
				b.Spec.SnapshotPeriodSeconds, b.Generation = new(60), b.Generation+1
			})
		}, code: exit.ExitConflict, want: "create a new plan: kubectl fdb reconcile --filename "},
		"a plan of one of them": {change: of("fdbbackup/nightly"), code: exit.ExitUsage, want: "must be PlanList"},
		"a plan of another resource": {change: func(t *testing.T, _ *commandstest.Vault, path string) {
			t.Helper()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var list struct {
				Kind  string            `json:"kind"`
				Plans []json.RawMessage `json:"plans"`
			}
			if err := json.Unmarshal(text, &list); err != nil {
				t.Fatal(err)
			}
			list.Plans = list.Plans[:1]
			text, err = json.Marshal(list)
			if err := errors.Join(err, os.WriteFile(path, text, 0o600)); err != nil {
				t.Fatal(err)
			}
		}, code: exit.ExitUsage, want: "has no plan for fdbbackup/nightly (nothing was changed)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := readVault(t)
			path := v.Planned("reconcile", "-f", together(t))
			if tc.change != nil {
				tc.change(t, v, path)
			}
			code := v.Run("reconcile", "-f", together(t), "--plan", path, "--yes")
			if code != tc.code || !strings.Contains(v.Err.String(), tc.want) {
				t.Errorf("exit code %d: %s", code, &v.Err)
			}
			if storage, agents := stored(t, v); (storage == 6) != tc.stored || (agents == 2) != tc.stored || len(v.Changes()) > 0 != tc.stored {
				t.Errorf("%d storage processes, %d agents, did %v", storage, agents, v.Changes())
			}
		})
	}
}

func forbidden(name string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: v1beta2.GroupVersion.Group, Resource: "foundationdbbackups"}, name, errors.New("the policy"))
}

// Nothing is stored while any of the changes would be refused.
func TestNoneOfSeveralResourcesIsStoredWhereOneWouldBeRefused(t *testing.T) {
	no := "n\n"
	tests := map[string]struct {
		given func(v *commandstest.Vault)
		args  []string
		code  int
		want  string
	}{
		"the user declines":    {given: func(v *commandstest.Vault) { v.Input = &no }, code: exit.ExitUnconfirmed, want: "declined (nothing was changed)"},
		"not on a terminal":    {code: exit.ExitUnconfirmed, want: "use --yes"},
		"a dry run":            {args: []string{"--dry-run"}, code: exit.ExitNo},
		"a dry run of objects": {args: []string{"--dry-run=server"}, code: exit.ExitNo, want: "fdbbackup/nightly: not checked"},
		"one is forbidden": {given: func(v *commandstest.Vault) {
			v.OnStore = func(name string, _ bool) error {
				if name == "nightly" {
					return forbidden(name)
				}
				return nil
			}
		}, args: []string{"--yes"}, code: exit.ExitForbidden, want: "the policy (nothing was changed)"},
		"a form that lists do not have": {args: []string{"--yes", "-o", "yaml"}, code: exit.ExitUsage, want: "not supported with several resources"},
		"a name to confirm":             {args: []string{"--yes", "--confirm", "nightly"}, code: exit.ExitUsage, want: "--confirm requires"},
		"several namespaces":            {args: []string{"--yes", "-f", togetherWith(t, "{name: nightly, namespace: other}")}, code: exit.ExitUsage, want: "carry out those of one namespace at a time"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := readVault(t)
			if tc.given != nil {
				tc.given(v)
			}
			args := tc.args
			if !slices.Contains(args, "-f") {
				args = append([]string{"-f", together(t)}, args...)
			}
			code := v.Run(append([]string{"reconcile"}, args...)...)
			if code != tc.code || !strings.Contains(v.Err.String(), tc.want) {
				t.Errorf("exit code %d: %s", code, &v.Err)
			}
			if n := strings.Count(v.Err.String(), "[y/N]"); n > 1 {
				t.Errorf("%d questions", n)
			}
			if storage, agents := stored(t, v); storage != 3 || agents != 1 || len(v.Changes()) > 0 {
				t.Errorf("%d storage processes, %d agents, did %v", storage, agents, v.Changes())
			}
		})
	}
}

// A user learns what is stored, what is not, and how to go on; the same command does the rest.
func TestAFailureAfterTheFirstOfSeveralWasStoredReportsWhatIs(t *testing.T) {
	tests := map[string]struct {
		meanwhile func(v *commandstest.Vault)
		fails     error
		code      int
		want      string
	}{
		"the second is refused": {fails: forbidden("nightly"), code: exit.ExitForbidden, want: "the policy"},
		"the second changed meanwhile": {meanwhile: func(v *commandstest.Vault) {
			v.Edit(func(b *v1beta2.FoundationDBBackup) {
				b.Spec.SnapshotPeriodSeconds, b.Generation = new(60), b.Generation+1
			})
		}, code: exit.ExitConflict, want: "FoundationDBBackup nightly changed since the plan was made: generation 1, now 2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v, file := readVault(t), together(t)
			v.OnStore = func(name string, dryRun bool) error {
				switch {
				case dryRun:
				case name == "nightly":
					return tc.fails
				case tc.meanwhile != nil:
					tc.meanwhile(v)
				}
				return nil
			}
			code := v.Run("reconcile", "-f", file, "--yes")
			for _, want := range []string{
				tc.want, "sample is stored, fdbbackup/nightly is not, and no pass was run",
				"hint: store the rest, and carry out all: kubectl fdb reconcile --yes --filename " + file,
			} {
				if !strings.Contains(v.Err.String(), want) {
					t.Errorf("%q is missing in\n%s", want, &v.Err)
				}
			}
			storage, agents := stored(t, v)
			if code != tc.code || storage != 6 || agents != 1 || len(v.Changes()) > 0 || strings.Contains(v.Err.String(), "nothing was changed") {
				t.Errorf("exit code %d, %d storage processes, %d agents, did %v: %s", code, storage, agents, v.Changes(), &v.Err)
			}
			v.OnStore = nil
			v.Run("reconcile", "-f", file, "--yes")
			if storage, agents := stored(t, v); storage != 6 || agents != 2 || len(v.Changes()) == 0 {
				t.Errorf("once more: %d storage processes, %d agents, did %v: %s", storage, agents, v.Changes(), &v.Err)
			}
		})
	}
}

// directory is a directory with the manifest of the cluster alone.
func directory(t *testing.T) string {
	t.Helper()
	return filepath.Dir(manifest(t, grown))
}

func TestAPlanWithPruneShowsWhatDeletionWouldDo(t *testing.T) {
	v := readVault(t)
	v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.DeletionPolicy = new(v1beta2.BackupDeletionPolicyCleanup) })
	other := v.Cluster.Resource.DeepCopy()
	other.Name, other.UID, other.Annotations = "orders", "2", map[string]string{corev1.LastAppliedConfigAnnotation: "{}"}
	of := metav1.ObjectMeta{Namespace: "fdb", OwnerReferences: []metav1.OwnerReference{{UID: "2"}}}
	v.Objects = append(v.Objects, other)
	for name, policy := range map[string]corev1.PersistentVolumeReclaimPolicy{"a": corev1.PersistentVolumeReclaimDelete, "b": corev1.PersistentVolumeReclaimRetain, "c": ""} {
		pod, claim := &corev1.Pod{ObjectMeta: of}, &corev1.PersistentVolumeClaim{ObjectMeta: of, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-" + name}}
		pod.Name, claim.Name = name, name
		v.Objects = append(v.Objects, pod, claim)
		if policy != "" {
			v.Objects = append(v.Objects, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeReclaimPolicy: policy}})
		}
	}
	if code := v.Run("plan", "-f", directory(t), "--prune"); code != exit.ExitNo {
		t.Errorf("exit code %d: %s", code, &v.Err)
	}
	inOrder(
		t, v.Out.String(), "- orders  not in the manifests, applied by kubectl; this command deletes nothing",
		"1 volume is deleted with all data (reclaim policy Delete): pv-a", "1 volume has an unknown reclaim policy (not found), and may be deleted with all data: pv-c",
		"1 volume is retained (reclaim policy Retain): pv-b", "3 pods and 3 PVCs are deleted",
		"- fdbbackup/nightly", "a pass deletes its data (spec.deletionPolicy is cleanup)", "to delete it: kubectl delete foundationdbbackup nightly", "- fdbrestore/again",
	)
	var list struct {
		Pruned []struct{ Resource string }
	}
	v.Run("plan", "-f", directory(t), "--prune", "-o", "json")
	if err := json.Unmarshal(v.Out.Bytes(), &list); err != nil || len(list.Pruned) != 3 {
		t.Errorf("%v: %+v", err, list)
	}
	if code := v.Run("plan", "-f", directory(t), "-o", "json"); code != exit.ExitNo || strings.Contains(v.Out.String(), "pruned") {
		t.Errorf("without --prune: exit code %d: %s", code, &v.Out)
	}
}

// The manifest of the last resource is removed from its directory like any other.
func TestPruneShowsTheDeletionOfTheLastResource(t *testing.T) {
	v := readVault(t)
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, "beside.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := v.Run("plan", "-f", empty, "--prune"); code != exit.ExitNo {
		t.Errorf("exit code %d: %s", code, &v.Err)
	}
	inOrder(t, v.Out.String(), "- sample ", "to delete it: kubectl delete foundationdbcluster sample", "- fdbbackup/nightly", "- fdbrestore/again")
	if code := v.Run("plan", "-f", empty); code != exit.ExitUsage {
		t.Errorf("without --prune: exit code %d: %s", code, &v.Err)
	}
	if code := v.Run("plan", "-f", empty, "--prune", "-n", "empty"); code != 0 || !strings.Contains(v.Err.String(), "nothing to do: no FoundationDB resource is in the manifests, and none in namespace empty") {
		t.Errorf("nothing to delete: exit code %d: %s", code, &v.Err)
	}
}

// A file alone is no list of all that there is to be.
func TestPruneRequiresADirectory(t *testing.T) {
	for name, args := range map[string][]string{
		"a file": {"-f", manifest(t, grown)}, "a name": {"sample", "-f", directory(t)}, "single fields": {"sample", "--set", "processCounts.storage=6"}, "nothing": {"sample"},
	} {
		v := readVault(t)
		if code := v.Run(append([]string{"plan", "--prune"}, args...)...); code != exit.ExitUsage || !strings.Contains(v.Err.String(), "--prune requires -f DIRECTORY or -k") {
			t.Errorf("%s: exit code %d: %s", name, code, &v.Err)
		}
	}
}

// A run that ended right after it created the resource is continued by the same command with the same plan.
func TestAPlanOfANewResourceIsCarriedOutOnceTheResourceExists(t *testing.T) {
	v := readVault(t)
	fresh := &v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: "again", Namespace: "fdb", UID: "another", Generation: 1}, Spec: v.Restore().Spec}
	if err := v.API.Delete(t.Context(), v.Restore()); err != nil {
		t.Fatal(err)
	}
	file := written(t, "again.yaml", `apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBRestore
metadata: {name: again}
spec:
  destinationClusterName: sample
  blobStoreConfiguration: {accountName: key@store, backupName: nightly, urlParameters: [region=eu]}
`)
	path := v.Planned("reconcile", "-f", file)
	if err := v.API.Create(t.Context(), fresh); err != nil {
		t.Fatal(err)
	}
	if code := v.Run("reconcile", "-f", file, "--plan", path, "--yes"); code != exit.ExitWaiting {
		t.Errorf("exit code %d: %s%s", code, &v.Out, &v.Err)
	}
}

// Each dry run of an API server answers with another UID for a resource that does not exist.
func TestAPlanOfANewResourceHasOneDigestAndIsCarriedOut(t *testing.T) {
	const store = "  blobStoreConfiguration: {accountName: key@store, backupName: nightly, urlParameters: [region=eu]}\n"
	tests := map[string]struct {
		stored     client.Object
		kind, spec string
		did        string
	}{
		"a backup": {
			&v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "fdb"}}, "FoundationDBBackup, metadata: {name: nightly}",
			"  version: 7.3.79\n  clusterName: sample\n  agentCount: 2\n" + store, "create Deployment nightly-backup-agents with 2 agents",
		},
		"a restore": {
			&v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: "again", Namespace: "fdb"}}, "FoundationDBRestore, metadata: {name: again}",
			"  destinationClusterName: sample\n" + store, "restore everything as of",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := readVault(t)
			if _, isRestore := tc.stored.(*v1beta2.FoundationDBRestore); isRestore {
				v.Runs()
				v.Fdbcli(`writemode on; clearrange "" \xff`)
			}
			if err := v.API.Delete(t.Context(), tc.stored); err != nil {
				t.Fatal(err)
			}
			file := written(t, "new.yaml", "apiVersion: apps.foundationdb.org/v1beta2\nkind: "+strings.ReplaceAll(tc.kind, ", ", "\n")+"\nspec:\n"+tc.spec)
			one, other := planIn(v.Given, "reconcile", "-f", file, "--dry-run"), planIn(v.Given, "reconcile", "-f", file, "--dry-run")
			if len(one.Items) == 0 || one.Proposed == nil || !one.Proposed.New || one.Digest != other.Digest {
				t.Errorf("one plan %+v, another %+v", one, other)
			}
			path := v.Planned("reconcile", "-f", file)
			if code := v.Run("reconcile", "-f", file, "--plan", path, "--yes"); code != exit.ExitWaiting || !strings.Contains(v.Out.String(), tc.did) {
				t.Errorf("exit code %d: %s%s", code, &v.Out, &v.Err)
			}
		})
	}
}

// A plan is one of all manifests of the command line: a namespace among them counts as stored, and is named, and nothing is
// stored into it before it exists.
func TestAPlanOfManifestsAssumesTheirNamespace(t *testing.T) {
	v := readVault(t)
	if err := v.API.Delete(t.Context(), v.Restore()); err != nil {
		t.Fatal(err)
	}
	watching, is := v.Client().(client.WithWatch)
	if !is {
		t.Fatalf("%T cannot refuse", v.Client())
	}
	api := interceptor.NewClient(watching, interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "fdb")
	}})
	file := written(t, "all.yaml", `apiVersion: v1
kind: Namespace
metadata: {name: fdb}
---
apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBRestore
metadata: {name: again}
spec:
  destinationClusterName: sample
  blobStoreConfiguration: {accountName: key@store, backupName: nightly, urlParameters: [region=eu]}
`)
	if code := v.RunOn(api, "plan", "-f", file); code != exit.ExitNo || !strings.Contains(v.Out.String(), "unknown: what the API server makes of Namespace fdb, which it does not have yet") {
		t.Errorf("exit code %d: %s%s", code, &v.Out, &v.Err)
	}
	if code := v.RunOn(api, "reconcile", "-f", file, "--yes"); code != exit.ExitRefused || !strings.Contains(v.Err.String(), "needs Namespace fdb") || len(v.Changes()) > 0 {
		t.Errorf("exit code %d, did %v: %s%s", code, v.Changes(), &v.Out, &v.Err)
	}
}
