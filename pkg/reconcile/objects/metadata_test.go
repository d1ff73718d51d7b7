package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func TestMissingMetadataIsAddedAndNothingRemoved(t *testing.T) {
	tests := map[string]struct {
		have, want map[string]string
		missing    map[string]string
	}{
		"nothing wanted":            {have: map[string]string{"a": "1"}},
		"everything there and more": {have: map[string]string{"a": "1", "b": "2"}, want: map[string]string{"a": "1"}},
		"one missing":               {have: map[string]string{"b": "2"}, want: map[string]string{"a": "1", "b": "2"}, missing: map[string]string{"a": "1"}},
		"one different":             {have: map[string]string{"a": "0"}, want: map[string]string{"a": "1"}, missing: map[string]string{"a": "1"}},
		"an empty one missing":      {want: map[string]string{"a": ""}, missing: map[string]string{"a": ""}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			have := metav1.ObjectMeta{Labels: tt.have, Annotations: tt.have}
			want := metav1.ObjectMeta{Labels: tt.want, Annotations: tt.want}
			labels, annotations := MissingMetadata(have, want)
			if diff := cmp.Diff(tt.missing, labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.missing, annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if got := ContainsMetadata(have, want); got != (tt.missing == nil) {
				t.Errorf("contained: %v", got)
			}
		})
	}
}

func TestLaunchAnnotationsOfAPodAreNotUpdated(t *testing.T) {
	c := sample(t)
	pod, err := Pod(c, storage1)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		v1beta2.AnnotationLastAppliedSpec, v1beta2.AnnotationImageType, v1beta2.AnnotationIPFamily, v1beta2.AnnotationPublicIPSource,
	} {
		pod.Annotations[key] = "of an older spec"
	}
	pod.Spec.NodeName = "node-a"
	labels, annotations := NewGroupMetadata(c).OfPod(storage1, pod)
	if labels != nil {
		t.Errorf("labels %v", labels)
	}
	if diff := cmp.Diff(map[string]string{v1beta2.AnnotationCurrentNode: "node-a"}, annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestBuildingObjectsDoesNotModifyTheCluster(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			c := sample(t, kind.given...)
			before := c.DeepCopy()
			describe(t, c, kind.group)
			if diff := cmp.Diff(before, c); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}

// What is missing must be what the object that would be created now has, for every class and ID.
func TestMissingMetadataMatchesANewlyCreatedObject(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			c := sample(t, kind.given...)
			missing := NewGroupMetadata(c)
			for _, class := range []v1beta2.ProcessClass{v1beta2.ProcessClassStorage, v1beta2.ProcessClassLog} {
				for _, id := range []v1beta2.ProcessGroupID{c.ProcessGroupIDFor(class, 1), c.ProcessGroupIDFor(class, 7), "other-7"} {
					g := group(class, id)
					want := changeablePodMetadata(c, g)
					labels, annotations := missing.OfPod(g, &corev1.Pod{})
					if diff := cmp.Diff(want.Labels, labels) + cmp.Diff(merged(want.Annotations), merged(annotations)); diff != "" {
						t.Errorf("pod of %s (-want +got):\n%s", id, diff)
					}
					want = ClaimMetadata(c, g)
					labels, annotations = missing.OfClaim(g, &corev1.PersistentVolumeClaim{})
					if diff := cmp.Diff(want.Labels, labels) + cmp.Diff(merged(want.Annotations), merged(annotations)); diff != "" {
						t.Errorf("PVC of %s (-want +got):\n%s", id, diff)
					}
				}
			}
		})
	}
}
