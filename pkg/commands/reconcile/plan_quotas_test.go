package reconcile_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// podQuota is a quota of pods that the pods of a cluster use.
func podQuota(g *commandstest.Given, hard int64) *corev1.ResourceQuota {
	count := func(n int64) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(n, resource.DecimalSI)}
	}
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: "compute"},
		Status:     corev1.ResourceQuotaStatus{Hard: count(hard), Used: count(int64(len(g.Cluster.Pods)))},
	}
}

// All volumes should be larger, so that all groups with data are replaced: nothing is marked yet.
func TestAPlanShowsWhatItTakesOfQuotasBeforeAnythingIsMarked(t *testing.T) {
	for hard, says := range map[int64]string{100: "quota: ResourceQuota compute: pods ", 10: "quota exceeded: ResourceQuota compute: pods "} {
		g := commandstest.Up(t)
		g.Objects = append(g.Objects, podQuota(g, hard))
		size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("256Gi")}
		g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {
			VolumeClaimTemplate: &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{Requests: size}}},
		}}
		if code := g.Run("plan", "sample"); code != exit.ExitNo || !strings.Contains(g.Out.String(), says) || !strings.Contains(g.Out.String(), "- process groups") {
			t.Errorf("with %d pods: %d: %s%s", hard, code, &g.Out, &g.Err)
		}
		g.Run("plan", "sample", "-o", "json")
		var v struct{ NamespaceRules *admission.Rules }
		if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil || v.NamespaceRules == nil || v.NamespaceRules.Quotas[0].Exceeded != (hard == 10) {
			t.Errorf("with %d pods: %v: %+v", hard, err, v.NamespaceRules)
		}
	}
}

func TestAPlanWithoutAForecastComparesItsOwnObjectsWithQuotas(t *testing.T) {
	g := commandstest.Up(t)
	g.Objects = append(g.Objects, podQuota(g, int64(len(g.Cluster.Pods))))
	for name := range g.Cluster.Pods {
		g.Cluster.KillPod(name)
		break
	}
	g.Run("plan", "sample", "--forecast=false")
	if !strings.Contains(g.Out.String(), "quota exceeded: ResourceQuota compute: pods ") {
		t.Errorf("%s%s", &g.Out, &g.Err)
	}
}
