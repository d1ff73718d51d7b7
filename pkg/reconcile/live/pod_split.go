package live

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// splitFiles are the files whose state decides whether a split pod is up to date.
var splitFiles = []string{"fdb.cluster", "fdbmonitor.conf"}

// splitReport queries a sidecar about its files while the pod has not confirmed the current
// configuration. For a pod that has, its own spec has the values that it substitutes, so a
// pass with nothing to do queries no sidecar. During an upgrade to another protocol every
// sidecar is queried: a restart must not find a binary missing.
func (f *podFiles) splitReport(ctx context.Context, c *v1beta2.FoundationDBCluster, pod *corev1.Pod) plan.PodReport {
	upgrade := c.IsBeingUpgradedIncompatibly()
	if !upgrade && upToDate(c, pod) {
		return plan.PodReport{Variables: objects.SidecarVariables(pod)}
	}
	var binaries []string
	if upgrade {
		binaries = []string{objects.CopiedServer(c.Spec.Version)}
	}
	query := f.querySidecar
	if f.Sidecars != nil {
		query = f.Sidecars(query)
	}
	report, err := query(ctx, pod, binaries)
	if err != nil {
		return plan.PodReport{Unreachable: err.Error()}
	}
	return report
}

// SidecarQuery reads what the sidecar of a split pod reports of its files, and of these binaries.
type SidecarQuery = func(ctx context.Context, pod *corev1.Pod, binaries []string) (plan.PodReport, error)

func upToDate(c *v1beta2.FoundationDBCluster, pod *corev1.Pod) bool {
	class := v1beta2.ProcessClass(pod.Labels[c.ProcessClassLabels()[0]])
	launch, err := objects.LaunchOf(pod, class)
	if err != nil {
		return false
	}
	want, err := objects.ConfigMapHash(c, launch)
	return err == nil && pod.Annotations[v1beta2.AnnotationLastAppliedConfigMap] == want
}

func (f *podFiles) querySidecar(ctx context.Context, pod *corev1.Pod, binaries []string) (plan.PodReport, error) {
	sidecar, err := f.openSidecar(ctx, pod)
	if err != nil {
		return plan.PodReport{}, err
	}
	defer sidecar.close()
	report := plan.PodReport{Hashes: map[string]string{}}
	if report.Variables, err = sidecar.substitutions(ctx); err != nil {
		return plan.PodReport{}, err
	}
	for _, file := range splitFiles {
		hash, found, err := sidecar.checkHash(ctx, file)
		if err != nil {
			return plan.PodReport{}, err
		}
		if found {
			report.Hashes[file] = hash
		}
	}
	for _, binary := range binaries {
		present, err := sidecar.isPresent(ctx, binary)
		if err != nil {
			return plan.PodReport{}, err
		}
		report.Present = map[string]bool{binary: present}
	}
	return report, nil
}

// syncPodFiles requests a sidecar to copy files from its mounted ConfigMap. Whether that
// ConfigMap was current shows when the files are read again.
func (f *podFiles) syncPodFiles(ctx context.Context, a plan.SyncPodFiles) error {
	_, pods := f.known.toReach()
	pod := pods[a.Pod]
	if pod == nil {
		return fmt.Errorf("pod %s was not read", a.Pod)
	}
	sidecar, err := f.openSidecar(ctx, pod)
	if err != nil {
		return err
	}
	defer sidecar.close()
	for _, file := range a.Files {
		if err := sidecar.copyFile(ctx, file); err != nil {
			return err
		}
	}
	return nil
}
