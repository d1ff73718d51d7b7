package live_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// backupStory is what happens to a backup and a restore, and what every pass has to say about
// it. Its golden file is meant to be read.
type backupStory struct {
	*vault
	text   bytes.Buffer
	passes int
}

// newBackupStory begins with a cluster that is up, and the resource of a backup that no one has
// started.
func newBackupStory(t *testing.T) *backupStory {
	t.Helper()
	return &backupStory{vault: newVault(t)}
}

// running goes on from a backup that runs and can be restored, without the words for that.
func (st *backupStory) running() *backupStory {
	st.t.Helper()
	st.backupPasses(30 * time.Second)
	st.text.Reset()
	st.passes = 0
	return st
}

// logf prints what happens between passes.
func (st *backupStory) logf(format string, args ...any) {
	fmt.Fprintf(&st.text, "\n## %s\n", fmt.Sprintf(format, args...))
}

// asks prints which change of the resource comes, and makes it.
func (st *backupStory) asks(what string, edit func(*v1beta2.FoundationDBBackupSpec)) {
	st.t.Helper()
	st.logf("%s", what)
	st.change(func(b *v1beta2.FoundationDBBackup) { edit(&b.Spec) })
}

// backupPasses makes passes over the backup at a pace until one has nothing to do.
func (st *backupStory) backupPasses(pace time.Duration) {
	st.t.Helper()
	const most = 12
	for range most {
		if st.pass(st.backup, backup.Backup()).Outcome == reconcile.Done {
			return
		}
		st.elapse(pace)
	}
	st.t.Fatalf("no end:%s", st.text.String())
}

// elapse lets time pass, and Kubernetes work.
func (st *backupStory) elapse(d time.Duration) {
	st.t.Helper()
	st.kubelet()
	st.nodes.FDB.Advance(d)
}

func (st *backupStory) pass(w clusterOfBackups, all []plan.Stage) reconcile.PassDone {
	st.t.Helper()
	st.passes++
	fmt.Fprintf(&st.text, "\n# Pass %d at %s\n", st.passes, st.cluster.Clock.Now().Format("15:04:05"))
	p := reconcile.Pass{Stages: all, Observer: w, Actor: w, Seed: 42, Report: ui.Text(&st.text, ui.TextOptions{})}
	done, err := p.Run(st.t.Context())
	if err != nil {
		st.t.Fatal(err)
	}
	if done.Outcome == reconcile.Done {
		fmt.Fprintln(&st.text, "nothing to do")
	}
	return done
}

// ends compares the story with its golden file. No story has a secret, and none runs one.
func (st *backupStory) ends() {
	st.t.Helper()
	if strings.Contains(st.text.String()+fmt.Sprint(st.ran), storeSecret) {
		st.t.Error("the secret was printed or run")
	}
	golden.RequireEqual(st.t, st.text.Bytes())
}

// kubelet does what Kubernetes does with deployments of agents: it makes the pods that are
// missing, and ends those that no resource asks for.
func (v *vault) kubelet() {
	v.t.Helper()
	all := &appsv1.DeploymentList{}
	if err := v.api.List(v.t.Context(), all); err != nil {
		v.t.Fatal(err)
	}
	desired := map[string]bool{}
	for i := range all.Items {
		d := all.Items[i]
		if v.isOrphan(&d) {
			if err := v.api.Delete(v.t.Context(), &d); err != nil {
				v.t.Fatal(err)
			}
			continue
		}
		for i := range *d.Spec.Replicas {
			desired[fmt.Sprintf("%s-%d", d.Name, i)] = true
		}
	}
	for name := range v.agents {
		if !desired[name] || !v.hasPod(name) {
			v.endAgent(name)
		}
	}
	v.runDeployments()
}

// isOrphan reports whether the resource that a deployment belongs to was deleted.
func (v *vault) isOrphan(d *appsv1.Deployment) bool {
	owner := metav1.GetControllerOf(d)
	b := &v1beta2.FoundationDBBackup{}
	err := v.api.Get(v.t.Context(), named(owner.Name), b)
	return apierrors.IsNotFound(err) || b.UID != owner.UID
}

func (v *vault) hasPod(name string) bool {
	return v.api.Get(v.t.Context(), types.NamespacedName{Namespace: key.Namespace, Name: name}, &corev1.Pod{}) == nil
}

// endAgent ends an agent, and its pod.
func (v *vault) endAgent(name string) {
	v.t.Helper()
	v.agents[name].Stop()
	delete(v.agents, name)
	pod := &corev1.Pod{}
	pod.Name, pod.Namespace = name, key.Namespace
	if err := client.IgnoreNotFound(v.api.Delete(v.t.Context(), pod)); err != nil {
		v.t.Fatal(err)
	}
}

// unready has the pods of all agents end as pods whose node went away: they are there, and
// no command gets into them.
func (v *vault) unready() {
	v.t.Helper()
	for name := range v.agents {
		pod := &corev1.Pod{}
		if err := v.api.Get(v.t.Context(), types.NamespacedName{Namespace: key.Namespace, Name: name}, pod); err != nil {
			v.t.Fatal(err)
		}
		pod.Status.ContainerStatuses[0].Ready = false
		if err := v.api.Status().Update(v.t.Context(), pod); err != nil {
			v.t.Fatal(err)
		}
	}
	d := &appsv1.Deployment{}
	if err := v.api.Get(v.t.Context(), types.NamespacedName{Namespace: key.Namespace, Name: "nightly-backup-agents"}, d); err != nil {
		v.t.Fatal(err)
	}
	d.Status.ReadyReplicas = 0
	if err := v.api.Status().Update(v.t.Context(), d); err != nil {
		v.t.Fatal(err)
	}
}
