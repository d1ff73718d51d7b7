package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	validation "k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

var newPod = plan.CreatePod{Group: "storage-1", Name: "sample-storage-1", Object: &corev1.Pod{
	ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "sample-storage-1"},
	Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "foundationdb"}}},
}}

// refusing makes the creation of one object fail, and answers what the user is permitted.
func (f *field) refusing(request string, err error, permitted bool) {
	f.log.permitted = permitted
	f.log.refuse = func(r string) error {
		if r == request {
			return err
		}
		return nil
	}
}

func refusedPod(text string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, newPod.Name, errors.New(text))
}

func policyError() error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, newPod.Name, errors.New("denied request: label team is required"))
	err.ErrStatus.Reason, err.ErrStatus.Code = metav1.StatusReasonInvalid, 422
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "label team is required"}}
	return err
}

func terminatingError() error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, newPod.Name, errors.New("unable to create new content"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

func fullQuota() *corev1.ResourceQuota {
	one := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
	return &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "pods"}, Status: corev1.ResourceQuotaStatus{Hard: one, Used: one}}
}

func TestARefusalByAdmissionIsNoMissingPermission(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, newPod.Name, required("spec.containers"))
	tests := map[string]struct {
		err       error
		permitted bool
		given     func(*field)
		want      plan.RefusalKind
		by        string
	}{
		"RBAC has no rule":                   {err: refusedPod("exceeded quota: these words decide nothing")},
		"the quota is full":                  {err: refusedPod("no"), permitted: true, given: func(f *field) { f.store(fullQuota()) }, want: plan.RefusedByQuota, by: "pods"},
		"something else refuses":             {err: refusedPod("exceeded quota: these words decide nothing"), permitted: true, want: plan.RefusedByPolicy},
		"a policy answers with its own code": {err: policyError(), want: plan.RefusedByPolicy},
		"the object is invalid":              {err: invalid, want: plan.RefusedAsInvalid},
		"the request is bad":                 {err: apierrors.NewBadRequest("no"), want: plan.RefusedAsInvalid},
		"the namespace is being deleted":     {err: terminatingError(), want: plan.RefusedByNamespace},
		"another run has created it":         {err: apierrors.NewAlreadyExists(schema.GroupResource{Resource: "pods"}, newPod.Name), permitted: true},
		"the API server is not available":    {err: apierrors.NewServiceUnavailable("etcd"), permitted: true},
		"the namespace requires restricted pods": {err: refusedPod("no"), permitted: true, given: func(f *field) {
			f.store(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace, Labels: map[string]string{admission.LabelPodSecurity: "restricted"}}})
			first := true
			f.log.refuse = func(r string) error {
				if r == "create Pod sample-storage-1" && first {
					first = false
					return refusedPod("no")
				}
				return nil
			}
		}, want: plan.RefusedByPodSecurity, by: "restricted"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newField(t, sample())
			f.refusing("create Pod sample-storage-1", tc.err, tc.permitted)
			if tc.given != nil {
				tc.given(f)
			}
			f.begin()
			err := f.cluster.Act(t.Context(), newPod)
			refused, is := errors.AsType[*reconcile.AdmissionError](err)
			switch {
			case err == nil:
				t.Fatal("the pod was created")
			case tc.want == "" && is:
				t.Errorf("got %v, want the error of the API server", err)
			case tc.want != "" && !is:
				t.Errorf("got %v, want %s", err, tc.want)
			case is && (refused.Refusal.Kind != tc.want || refused.Refusal.By != tc.by || refused.Refusal.Object() != "Pod/sample-storage-1"):
				t.Errorf("got %+v, want %s %s", refused.Refusal, tc.want, tc.by)
			}
		})
	}
}

func (f *field) store(o client.Object) {
	f.t.Helper()
	if err := f.api.Create(f.t.Context(), o); err != nil {
		f.t.Fatal(err)
	}
}

func (f *field) refusals() []plan.Refusal {
	f.t.Helper()
	lease := &coordinationv1.Lease{}
	if err := f.api.Get(f.t.Context(), named(live.LeaseName(key.Name)), lease); err != nil {
		f.t.Fatal(err)
	}
	return live.RefusalsOf(lease)
}

func (f *field) runOnce(a plan.Action) {
	f.t.Helper()
	f.begin()
	_ = f.cluster.Act(f.t.Context(), a) // the refusals tell
	if err := f.cluster.End(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

func TestARefusalIsRememberedUntilItsObjectIsCreated(t *testing.T) {
	f := newField(t, sample(), fullQuota())
	f.refusing("create Pod sample-storage-1", refusedPod("exceeded\nquota"), true)
	f.runOnce(newPod)
	first := f.refusals()
	if len(first) != 1 || first[0].Kind != plan.RefusedByQuota || strings.Contains(first[0].Message, "\n") {
		t.Fatalf("got %+v", first)
	}
	f.tick(3e9)
	f.runOnce(newPod)
	if again := f.refusals(); len(again) != 1 || !again[0].Since.Equal(first[0].Since) {
		t.Errorf("got %+v, want since %s", again, first[0].Since)
	}
	f.runOnce(plan.CreatePVC{Name: "c", Object: &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "c"}}})
	if kept := f.refusals(); len(kept) != 1 {
		t.Errorf("after a PVC was created: %+v", kept)
	}
	f.log.refuse = nil
	f.runOnce(newPod)
	if left := f.refusals(); len(left) != 0 {
		t.Errorf("after the pod was created: %+v", left)
	}
}

func TestRefusalsOfAnotherClusterOfTheSameNameAreForgotten(t *testing.T) {
	pvc := plan.CreatePVC{Name: "c", Object: &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "c"}}}
	for name, kept := range map[string]func(uid string) (string, bool){
		"those of this cluster stay":              func(uid string) (string, bool) { return uid, true },
		"those of another one are forgotten":      func(string) (string, bool) { return "another", false },
		"those of an older release are forgotten": func(string) (string, bool) { return "", false },
	} {
		t.Run(name, func(t *testing.T) {
			f := settled(t)
			f.refusing("create Pod sample-storage-1", refusedPod("no"), true)
			f.runOnce(newPod)
			lease := &coordinationv1.Lease{}
			if err := f.api.Get(t.Context(), leaseKey, lease); err != nil {
				t.Fatal(err)
			}
			own := lease.Annotations[live.AnnotationRefusalsUID]
			if own == "" {
				t.Fatal("the refusals have no UID")
			}
			uid, stays := kept(own)
			lease.Annotations[live.AnnotationRefusalsUID] = uid
			if err := f.api.Update(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
			f.runOnce(pvc)
			if left := f.refusals(); (len(left) > 0) != stays {
				t.Errorf("%+v, want kept: %t", left, stays)
			}
		})
	}
}

// A restore takes the Lease of its destination, and writes none of the objects that were refused.
func TestAPassOverARestoreKeepsTheRefusalsOfItsCluster(t *testing.T) {
	for name, facets := range map[string]plan.Facet{
		"that has read its cluster":      plan.Restore | plan.ClusterResource,
		"that has read the restore only": plan.Restore,
	} {
		t.Run(name, func(t *testing.T) {
			v := newVault(t)
			v.refusing("create Pod sample-storage-1", refusedPod("no"), true)
			v.runOnce(newPod)
			v.put(newRestore(func(*v1beta2.FoundationDBRestore) {}))
			if err := v.restore.Observe(t.Context(), &plan.Snapshot{}, facets); err != nil {
				t.Fatal(err)
			}
			passOver(t, v.restore)
			if left := v.refusals(); len(left) != 1 {
				t.Errorf("%+v", left)
			}
		})
	}
}

// A Lease outlives its backup, as it outlives its cluster.
func TestTheLeaseOfABackupIsBoundToItsUID(t *testing.T) {
	v := newVault(t)
	leaseOf := func() *coordinationv1.Lease {
		lease := &coordinationv1.Lease{}
		if err := v.api.Get(t.Context(), types.NamespacedName{Namespace: key.Namespace, Name: live.BackupLeaseName(nightlyKey.Name)}, lease); err != nil {
			t.Fatal(err)
		}
		return lease
	}
	v.backup.Operations().SetOperation(reconcile.Operation{ID: "1", Holder: v.backup.Holder, Command: "backup start"})
	if err := v.backup.Observe(t.Context(), &plan.Snapshot{}, plan.Backup); err != nil {
		t.Fatal(err)
	}
	passOver(t, v.backup)
	if o := live.OperationOf(leaseOf()); o == nil || o.UID != v.theBackup().UID {
		t.Errorf("the operation is %+v", o)
	}
	lease := leaseOf()
	lease.Annotations[live.AnnotationRefusals], lease.Annotations[live.AnnotationRefusalsUID] = `[{"objectKind":"Pod"}]`, "another"
	if err := v.api.Update(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	passOver(t, v.backup)
	if left := live.RefusalsOf(leaseOf()); len(left) > 0 {
		t.Errorf("refusals of another backup are kept: %+v", left)
	}
}

// passOver takes the Lease of a resource and releases it.
func passOver(t *testing.T, pass interface {
	Begin(context.Context) error
	End(context.Context) error
},
) {
	t.Helper()
	if err := errors.Join(pass.Begin(t.Context()), pass.End(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func TestRememberedRefusalsAreFewAndShort(t *testing.T) {
	f := newField(t, sample())
	f.log.permitted = true
	f.log.refuse = func(r string) error {
		if strings.HasPrefix(r, "create Pod") {
			return refusedPod(strings.Repeat("ä long text ", 1000))
		}
		return nil
	}
	f.begin()
	for n := range 100 {
		pod := newPod
		pod.Name = "sample-storage-" + strings.Repeat("1", n+1)
		pod.Object = newPod.Object.DeepCopy()
		pod.Object.Name = pod.Name
		_ = f.cluster.Act(t.Context(), pod) // the refusals tell
	}
	if err := f.cluster.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(f.refusals())
	if err != nil || len(text) > 8<<10 || len(f.refusals()) == 0 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func required(path string) validation.ErrorList {
	return validation.ErrorList{validation.Required(validation.NewPath(path), "")}
}

func TestSuccessorsAreTriedByADryRun(t *testing.T) {
	f := settled(t)
	f.log.permitted = true
	before, pods := &corev1.PodList{}, &corev1.PodList{}
	if err := f.api.List(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	f.store(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "pods", Namespace: key.Namespace}})
	if s := f.observe(plan.ClusterResource | plan.Successors); !s.Successors.Read || len(s.Successors.Refused)+len(s.Successors.Unknown) > 0 || len(s.Successors.Namespace.Quotas) != 1 {
		t.Errorf("all are accepted, beside one quota: %+v", s.Successors)
	}
	f.log.refuse = func(r string) error {
		if strings.HasPrefix(r, "create Pod sample-storage-") {
			return refusedPod("no")
		}
		return nil
	}
	s := f.observe(plan.ClusterResource | plan.Successors)
	if refused := s.Successors.Refused; len(refused) != 1 || refused[v1beta2.ProcessClassStorage].Kind != plan.RefusedByPolicy {
		t.Errorf("storage is refused: %+v", s.Successors)
	}
	f.log.permitted = false
	if s = f.observe(plan.ClusterResource | plan.Successors); s.Successors.Unknown[v1beta2.ProcessClassStorage] == "" {
		t.Errorf("without the permission the answer is unknown: %+v", s.Successors)
	}
	if err := f.api.List(t.Context(), pods); err != nil || len(pods.Items) != len(before.Items) {
		t.Errorf("%d pods, %d before: %v", len(pods.Items), len(before.Items), err)
	}
}

func withClass(name string) func(*v1beta2.FoundationDBCluster) {
	return func(c *v1beta2.FoundationDBCluster) {
		c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {
			VolumeClaimTemplate: &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &name}},
		}}
	}
}

func TestStorageClassesAreMissingOnlyWithoutAVolumeOfThem(t *testing.T) {
	class := func(name string) client.Object {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	volume := func(class string) client.Object {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Spec: corev1.PersistentVolumeSpec{StorageClassName: class}}
	}
	tests := map[string]struct {
		edit    func(*v1beta2.FoundationDBCluster)
		objects []client.Object
		forbid  string
		want    []string
		hidden  bool
	}{
		"the class exists":         {edit: withClass("fast"), objects: []client.Object{class("fast")}},
		"another exists":           {edit: withClass("fast"), objects: []client.Object{class("slow")}, want: []string{"fast"}},
		"volumes have its name":    {edit: withClass("fast"), objects: []client.Object{volume("fast")}},
		"volumes have other names": {edit: withClass("fast"), objects: []client.Object{volume("")}, want: []string{"fast"}},
		"none is needed":           {edit: withClass("")},
		"classes may not be read":  {edit: withClass("fast"), forbid: "list StorageClassList", hidden: true},
		"volumes may not be read":  {edit: withClass("fast"), forbid: "list PersistentVolumeList", hidden: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := sample()
			tc.edit(c)
			f := newField(t, c, tc.objects...)
			f.log.refuse = func(r string) error {
				if tc.forbid != "" && strings.HasPrefix(r, tc.forbid) {
					return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("no"))
				}
				return nil
			}
			got := f.observe(plan.ClusterResource | plan.FirstObjects).FirstObjects
			if diff := cmp.Diff(tc.want, append([]string(nil), got.NoClass...)); diff != "" || (got.ClassesHidden != "") != tc.hidden {
				t.Errorf("%+v (-want +got):\n%s", got, diff)
			}
		})
	}
}

func TestTheFirstObjectsOfAClusterAreTriedByADryRun(t *testing.T) {
	c := sample()
	c.Spec.Routing.HeadlessService = new(true)
	f := newField(t, c)
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "sample", validation.ErrorList{validation.Invalid(validation.NewPath("spec", "ipFamilies").Index(0), "IPv6", "not configured on this cluster")})
	for refused, tc := range map[string]struct {
		err     error
		field   string
		unknown bool
	}{
		"create Service sample":                   {err: invalid, field: "spec.ipFamilies[0]"},
		"create ConfigMap":                        {err: apierrors.NewBadRequest("admission webhook does not support dry run"), unknown: true},
		"create Pod sample-stateless":             {err: apierrors.NewInternalError(fmt.Errorf("no")), unknown: true},
		"create PersistentVolumeClaim sample-log": {err: invalid, field: "spec.ipFamilies[0]"},
	} {
		t.Run(refused, func(t *testing.T) {
			f.log.refuse = func(r string) error {
				if strings.HasPrefix(r, refused) {
					return tc.err
				}
				return nil
			}
			got := f.observe(plan.ClusterResource | plan.FirstObjects).FirstObjects
			if tc.unknown {
				if !got.Read || len(got.Refused) > 0 || len(got.Unknown) != 1 {
					t.Errorf("got %+v, want one unknown", got)
				}
				return
			}
			if len(got.Refused) != 1 || got.Refused[0].Field != tc.field || len(got.Unknown) > 0 {
				t.Errorf("got %+v, want %s", got, tc.field)
			}
		})
	}
	pods := &corev1.PodList{}
	if err := f.api.List(t.Context(), pods); err != nil || len(pods.Items) > 0 {
		t.Errorf("%d pods were created: %v", len(pods.Items), err)
	}
}

func TestTheFirstObjectsOfAClusterWithProcessGroupsAreNotTried(t *testing.T) {
	f := settled(t)
	before := len(f.log.all())
	if got := f.observe(plan.ClusterResource | plan.FirstObjects).FirstObjects; got.Read {
		t.Errorf("got %+v after %d requests", got, len(f.log.all())-before)
	}
}
