package objects

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/cron"
)

// ContainerDetector is the container of a failure detector.
const ContainerDetector = "kubectl-fdb"

// detectorAccount is the ServiceAccount of manifests/in-cluster.
const detectorAccount = "kubectl-fdb"

// detectorLabels are the labels of the jobs of failure detectors and of their pods. Those of the
// cluster are not among them: they select the pods of the database.
func detectorLabels() map[string]string {
	return map[string]string{"app.kubernetes.io/name": "kubectl-fdb", "app.kubernetes.io/component": "failure-detector"}
}

// maxCronJobName is the maximum length of the name of a CronJob: those of its
// jobs and their pods are longer.
const maxCronJobName = 52

// FailureDetectorName is the name of the CronJob of a cluster's failure detector. That of a
// cluster with a long name ends with a hash of the name.
func FailureDetectorName(c *v1beta2.FoundationDBCluster) string {
	const suffix, digits = "-failure-detector", 8
	if len(c.Name)+len(suffix) <= maxCronJobName {
		return c.Name + suffix
	}
	sum := sha256.Sum256([]byte(c.Name))
	start := strings.TrimRight(c.Name[:maxCronJobName-len(suffix)-digits-1], "-.")
	return start + suffix + "-" + hex.EncodeToString(sum[:])[:digits]
}

// DetectorPeriod is how often the failure detector runs; false where the spec sets a schedule.
// The cluster must be normalized.
func DetectorPeriod(c *v1beta2.FoundationDBCluster) (time.Duration, bool) {
	job := ptr.Deref(c.Spec.AutomationOptions.Replacements.FailureDetectionCronJob, v1beta2.FailureDetectionCronJob{})
	if job.Schedule != nil || (job.Template != nil && job.Template.Schedule != "") {
		return 0, false
	}
	return cron.Period(c.FailureDetectionTime()), true
}

// FailureDetector is the CronJob that looks for failed process groups of a cluster, with the
// template of the spec merged over it. Its annotation has the hash of its spec. Image is empty
// where the spec sets none. The cluster must be normalized.
func FailureDetector(c *v1beta2.FoundationDBCluster) (job *batchv1.CronJob, image string, err error) {
	settings := c.FailureDetection()
	spec := detectorSpec(c, settings)
	if settings.Template != nil {
		if spec, err = mergedCronJob(spec, *settings.Template); err != nil {
			return nil, "", fmt.Errorf("build the CronJob of the failure detector: %w", err)
		}
	}
	hash, err := SpecHash(spec)
	if err != nil {
		return nil, "", fmt.Errorf("build the CronJob of the failure detector: %w", err)
	}
	meta := metadata(c, nil, FailureDetectorName(c), nil)
	meta.Annotations = map[string]string{v1beta2.AnnotationLastAppliedSpec: hash}
	if detector := container(spec.JobTemplate.Spec.Template.Spec.Containers, ContainerDetector); detector != nil {
		image = detector.Image
	}
	return &batchv1.CronJob{ObjectMeta: meta, Spec: spec}, image, nil
}

// detectorSpec is the spec without the template of a user. A job is not repeated: the next one
// looks again.
func detectorSpec(c *v1beta2.FoundationDBCluster, settings v1beta2.FailureDetectionCronJob) batchv1.CronJobSpec {
	const historyOfFailed, historyOfSuccessful, late, longest = 3, 1, 300, 600
	return batchv1.CronJobSpec{
		Schedule:                   *settings.Schedule,
		ConcurrencyPolicy:          batchv1.ForbidConcurrent,
		StartingDeadlineSeconds:    new(int64(late)),
		SuccessfulJobsHistoryLimit: new(int32(historyOfSuccessful)),
		FailedJobsHistoryLimit:     new(int32(historyOfFailed)),
		JobTemplate: batchv1.JobTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: detectorLabels()},
			Spec: batchv1.JobSpec{
				BackoffLimit:          new(int32(0)),
				ActiveDeadlineSeconds: new(int64(longest)),
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: detectorLabels()},
					Spec:       detectorPod(c, ptr.Deref(settings.Image, "")),
				},
			},
		},
	}
}

func detectorPod(c *v1beta2.FoundationDBCluster, image string) corev1.PodSpec {
	const user, state, statePath, namespace = 65532, "state", "/state", "NAMESPACE"
	const grace = 300 // SIGTERM finishes the running action
	return corev1.PodSpec{
		ServiceAccountName:            detectorAccount,
		AutomountServiceAccountToken:  new(true),
		RestartPolicy:                 corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: new(int64(grace)),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(user)), RunAsGroup: new(int64(user)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name:    ContainerDetector,
			Image:   image,
			Command: []string{"/kubectl-fdb"},
			Args:    []string{"detect-failures", c.Name, "--namespace=$(" + namespace + ")", "--exit-zero", "--output=json"},
			Env: []corev1.EnvVar{
				fieldVariable(namespace, "metadata.namespace"),
				variable("XDG_STATE_HOME", statePath), // where the audit file is
			},
			VolumeMounts: []corev1.VolumeMount{{Name: state, MountPath: statePath}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")},
			},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
		Volumes: []corev1.Volume{emptyVolume(state)},
	}
}

// mergedCronJob merges a template over a spec as kubectl patch does: lists of named elements by
// name, so that containers and volumes of the spec stay.
func mergedCronJob(spec, template batchv1.CronJobSpec) (batchv1.CronJobSpec, error) {
	var merged batchv1.CronJobSpec
	original, err := json.Marshal(spec)
	if err != nil {
		return merged, err
	}
	fields, err := asJSON(template)
	if err != nil {
		return merged, err
	}
	patch, err := json.Marshal(withoutNull(fields))
	if err != nil {
		return merged, err
	}
	text, err := strategicpatch.StrategicMergePatch(original, patch, spec)
	if err != nil {
		return merged, err
	}
	if err = json.Unmarshal(text, &merged); merged.Schedule == "" {
		merged.Schedule = spec.Schedule // the types write it also where the template does not set it
	}
	return merged, err
}

// withoutNull drops the null that the types write for required lists, which would delete the
// field in a patch.
func withoutNull(value any) any {
	fields, ok := value.(map[string]any)
	if !ok {
		return value
	}
	set := map[string]any{}
	for name, field := range fields {
		if field = withoutNull(field); field != nil {
			set[name] = field
		}
	}
	return set
}
