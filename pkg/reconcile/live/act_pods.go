package live

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// deletePods deletes the pods with the checked UIDs. It stops at the first that cannot be
// deleted: all were to be deleted together, and the next pass decides again.
func (w *objectWriter) deletePods(ctx context.Context, a plan.DeletePods) error {
	remove := w.deletePod
	if a.Evict {
		remove = w.evict
	}
	for _, pod := range a.Pods {
		if err := remove(ctx, pod.Name, pod.UID); err != nil {
			return err
		}
	}
	return nil
}

func (w *objectWriter) deletePod(ctx context.Context, name string, uid types.UID) error {
	return w.deleteOne(ctx, &corev1.Pod{}, name, uid)
}

// imagePatch is a strategic merge patch: containers are found by name, and what it does
// not name is unchanged. The UID makes it fail on another pod of the same name.
type imagePatch struct {
	Metadata struct {
		UID types.UID `json:"uid"`
	} `json:"metadata"`
	Spec struct {
		Containers []containerImage `json:"containers"`
	} `json:"spec"`
}

type containerImage struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

func (w *objectWriter) setSidecarImage(ctx context.Context, a plan.SetSidecarImage) error {
	var p imagePatch
	p.Metadata.UID = a.UID
	p.Spec.Containers = []containerImage{{Name: a.Container, Image: a.Image}}
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode the image of pod %s: %w", a.Name, err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.Key.Namespace, Name: a.Name}}
	if err := w.Client.Patch(ctx, pod, client.RawPatch(types.StrategicMergePatchType, text)); err != nil {
		return fmt.Errorf("set the image of container %s of pod %s: %w", a.Container, a.Name, err)
	}
	return nil
}
