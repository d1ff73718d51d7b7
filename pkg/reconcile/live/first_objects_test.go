package live_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	specfield "k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "sample", specfield.ErrorList{specfield.Invalid(specfield.NewPath("spec", "ipFamilies").Index(0), "IPv6", "not configured on this cluster")})
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
