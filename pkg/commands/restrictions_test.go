package commands_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const forbidsHostPID = "--allow-host-pid=false"

func TestNoCommandChangesAClusterWhoseTemplateTheRestrictionsForbid(t *testing.T) {
	file := commandstest.Book(t, "- name: change\n  run: reconcile ${cluster} --yes\n")
	for _, args := range [][]string{
		{"reconcile", "sample", "--yes"},
		{"reconcile", "sample", "--yes", "--only", "AddPods,UpdateStatus"},
		{"replace", "sample", "storage-1", "--yes"},
		{"drain", "node-1", "-c", "sample", "--yes"},
		{"coordinators", "change", "sample", "--yes"},
		{"detect-failures", "sample", "--yes"},
		{"run", file, "--yes", "--state", t.TempDir() + "/state"},
	} {
		t.Run(strings.Join(args[:1], " "), func(t *testing.T) {
			g := commandstest.Up(t)
			g.ShareHostPID()
			if i := slices.Index(args, "storage-1"); i > 0 {
				args[i] = g.Storage()[0]
			}
			if i := slices.Index(args, "node-1"); i > 0 {
				args[i] = g.NodeOfStorage()
			}
			before := len(g.Cluster.Acted)
			if code := g.Run(append(args, forbidsHostPID)...); code == exit.ExitDone {
				t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			if did := g.Cluster.Acted[before:]; len(did) > 0 {
				t.Errorf("did %v", did)
			}
			if text := g.Out.String() + g.Err.String(); !strings.Contains(text, "spec.processes[storage].podTemplate.spec.hostPID (true) is forbidden by "+forbidsHostPID) {
				t.Errorf("names no field: %s", text)
			}
		})
	}
}

func TestACommandWithoutRestrictionsAcceptsEveryTemplate(t *testing.T) {
	g := commandstest.Up(t)
	g.ShareHostPID()
	g.Cluster.Acted = nil
	if code := g.Run("reconcile", "sample", "--yes"); code == exit.ExitRefused {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if len(g.Did("WriteStatus")) == 0 {
		t.Errorf("did nothing: %s%s", &g.Out, &g.Err)
	}
}

func TestThePlanShowsThePrivilegesOfTemplates(t *testing.T) {
	g := commandstest.Up(t)
	g.ShareHostPID()
	g.Run("plan", "sample")
	if want := "privileged: pod templates request more than their own pods: spec.processes[storage].podTemplate.spec.hostPID (true)"; !strings.Contains(strings.Join(strings.Fields(g.Out.String()), " "), want) {
		t.Errorf("the plan does not have %q: %s", want, &g.Out)
	}
	if code := g.Run("plan", "sample", forbidsHostPID); code == exit.ExitDone || !strings.Contains(g.Out.String(), "blocked: CheckTemplates: ") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	g.Run("check", "sample", "--rules", "SEC", forbidsHostPID)
	for _, want := range []string{"SEC-001", "SEC-002"} {
		if !strings.Contains(g.Out.String(), want) {
			t.Errorf("check does not report %s: %s", want, &g.Out)
		}
	}
}

func TestNoCommandChangesABackupWhoseTemplateTheRestrictionsForbid(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Edit(func(b *v1beta2.FoundationDBBackup) {
		b.Spec.PodTemplateSpec = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: v1beta2.ContainerMain}}, ServiceAccountName: "cluster-admin-sa",
		}}
	})
	const says = "spec.podTemplateSpec.spec.serviceAccountName (cluster-admin-sa) is forbidden: --allowed-service-account-names has default"
	v.Must(exit.ExitRefused, says, "reconcile", "fdbbackup/nightly", "--yes", "--allowed-service-account-names=default")
	v.Must(exit.ExitRefused, says, "backup", "start", "nightly", "--yes", "--allowed-service-account-names=default")
	if len(v.Ran) > 0 {
		t.Errorf("ran %v", v.Ran)
	}
}

func TestTheEvictionWebhookReplacesNoGroupOfAForbiddenTemplate(t *testing.T) {
	g := commandstest.Healthy(t)
	g.ShareHostPID()
	id := g.GroupOf(v1beta2.ProcessClassLog).ProcessGroupID
	g.Evictions(t, []string{g.Cluster.Resource.ProcessGroup(id).PodName(g.Cluster.Resource)}, `kubectl_fdb_eviction_acts_total{result="failed"} 1`, "--act", "--yes", forbidsHostPID)
	if g.Cluster.Resource.ProcessGroup(id).IsMarkedForRemoval() {
		t.Errorf("%s is marked for removal: %s%s", id, &g.Out, &g.Err)
	}
}

func TestHintsRepeatTheRestrictions(t *testing.T) {
	g := commandstest.Up(t)
	e := g.Environment()
	e.Global.Templates.ForbidHostPID, e.Global.Templates.Accounts = true, []string{"fdb-kubernetes"}
	if got := e.Command("exec", "sample", "--", "ls"); !strings.Contains(got, "exec sample --allow-host-pid=false --allowed-service-account-names=fdb-kubernetes") || !strings.HasSuffix(got, "-- ls") {
		t.Errorf("got %q", got)
	}
	if got := e.Kubectl("get", "pods"); strings.Contains(got, "host-pid") {
		t.Errorf("a command of kubectl has them: %q", got)
	}
}

// The manifests forbid the node, and the accounts of programs with more rights than pods of a database.
func TestTheInClusterManifestsRestrictPodTemplates(t *testing.T) {
	args := map[string][]string{}
	for file, template := range podTemplates(t) {
		args[file] = template.Spec.Containers[0].Args
	}
	for _, o := range commandstest.Manifests(t, "../../manifests/eviction-webhook/webhook.yaml") {
		if d, is := o.(*appsv1.Deployment); is {
			args["webhook.yaml"] = d.Spec.Template.Spec.Containers[0].Args
		}
	}
	if len(args) != 3 {
		t.Fatalf("%d manifests, want 3", len(args))
	}
	pods := map[string]corev1.PodSpec{
		"hostNetwork": {HostNetwork: true}, "hostPID": {HostPID: true}, "hostIPC": {HostIPC: true}, "an account": {ServiceAccountName: "kubectl-fdb"},
		"hostPath": {Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}}}},
	}
	for file, all := range args {
		e := commandstest.NewGiven(t).Environment()
		cmd, rest, err := commands.NewRoot(e).Find(all)
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil {
			t.Fatal(err)
		}
		for name, spec := range pods {
			b := &v1beta2.FoundationDBBackup{Spec: v1beta2.FoundationDBBackupSpec{PodTemplateSpec: &corev1.PodTemplateSpec{Spec: spec}}}
			if len(session.TemplateRestrictions(e).OfBackup(b)) == 0 {
				t.Errorf("%s allows %s", file, name)
			}
		}
		usual := corev1.PodSpec{ServiceAccountName: "fdb-kubernetes", Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}}}}
		b := &v1beta2.FoundationDBBackup{Spec: v1beta2.FoundationDBBackupSpec{PodTemplateSpec: &corev1.PodTemplateSpec{Spec: usual}}}
		if forbidden := session.TemplateRestrictions(e).OfBackup(b); len(forbidden) > 0 {
			t.Errorf("%s forbids %v", file, forbidden)
		}
	}
}
