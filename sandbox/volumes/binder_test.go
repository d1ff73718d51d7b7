package volumes

import (
	"log/slog"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
)

// settled is a binder that ran until nothing changes anymore.
func settled(t *testing.T, client *fake.Clientset, dir string) {
	t.Helper()
	factory := informers.NewSharedInformerFactory(client, 0)
	b, err := NewBinder(client, factory, dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	for range 5 {
		b.pass(t.Context())
		time.Sleep(50 * time.Millisecond) // the caches follow
	}
}

func claimOf(uid types.UID, volume string) *corev1.PersistentVolumeClaim {
	class := "standard"
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: "data", UID: uid}}
	c.Spec.StorageClassName, c.Spec.VolumeName = &class, volume
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	return c
}

// A volume whose policy is Retain outlives its claim. It is bound to another claim of that name only
// once its reference has no UID, as in Kubernetes.
func TestARetainedVolumeIsReboundOnlyAfterItsClaimUIDIsCleared(t *testing.T) {
	client, dir, ctx := fake.NewClientset(), t.TempDir(), t.Context()
	if err := EnsureClasses(ctx, client); err != nil {
		t.Fatal(err)
	}
	claims, pvs := client.CoreV1().PersistentVolumeClaims("fdb"), client.CoreV1().PersistentVolumes()
	if _, err := claims.Create(ctx, claimOf("uid-1", ""), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	settled(t, client, dir)
	v, err := pvs.Get(ctx, "pvc-uid-1", metav1.GetOptions{})
	if err != nil || v.Status.Phase != corev1.VolumeBound {
		t.Fatalf("%v, %+v", err, v)
	}
	v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	if _, err := pvs.Update(ctx, v, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := claims.Delete(ctx, "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	settled(t, client, dir)
	if v, err = pvs.Get(ctx, v.Name, metav1.GetOptions{}); err != nil || v.Status.Phase != corev1.VolumeReleased {
		t.Fatalf("%v, %+v", err, v)
	}
	if _, err := claims.Create(ctx, claimOf("uid-2", v.Name), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	settled(t, client, dir)
	if c, err := claims.Get(ctx, "data", metav1.GetOptions{}); err != nil || c.Status.Phase == corev1.ClaimBound {
		t.Fatalf("bound to a volume of another claim: %v, %+v", err, c)
	}
	v.Spec.ClaimRef.UID = ""
	if _, err := pvs.Update(ctx, v, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	settled(t, client, dir)
	c, err := claims.Get(ctx, "data", metav1.GetOptions{})
	if err != nil || c.Status.Phase != corev1.ClaimBound || c.Spec.VolumeName != v.Name {
		t.Errorf("not bound: %v, %+v", err, c)
	}
	if v, err = pvs.Get(ctx, v.Name, metav1.GetOptions{}); err != nil || v.Status.Phase != corev1.VolumeBound || v.Spec.ClaimRef.UID != c.UID {
		t.Errorf("%v, %+v", err, v)
	}
}
