package readings

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The files that a split pod's sidecar keeps in the pod's shared volume.
const (
	ClusterFile     = "fdb.cluster"
	MonitorConfFile = "fdbmonitor.conf"
)

// ConfigHashes caches the hashes of one decision: there are many pods, and few ways in which
// they are launched.
type ConfigHashes map[objects.Launch]string

// Of returns the hash of the configuration for that very pod: its image type and number of
// processes may not be the desired ones.
func (h ConfigHashes) Of(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	launch, err := objects.LaunchOf(pod, g.ProcessClass)
	if err != nil {
		return "", err
	}
	if hash, known := h[launch]; known {
		return hash, nil
	}
	hash, err := objects.ConfigMapHash(s.Cluster, launch)
	if err == nil {
		h[launch] = hash
	}
	return hash, err
}

// MonitorConfigurations caches the configurations of one decision, the desired ones and which of
// those that monitors accepted are the desired ones: there are many pods, and few ways to start their
// processes.
type MonitorConfigurations struct {
	desired map[objects.Launch]fdb.MonitorConfiguration
	current map[acceptedConfiguration]bool
}

// acceptedConfiguration is the text that the monitor of a pod reports.
type acceptedConfiguration struct {
	launch objects.Launch
	text   string
}

// NewMonitorConfigurations returns the configurations of a decision, all of whose calls have the same
// cluster.
func NewMonitorConfigurations() MonitorConfigurations {
	return MonitorConfigurations{map[objects.Launch]fdb.MonitorConfiguration{}, map[acceptedConfiguration]bool{}}
}

// Of returns the desired configuration.
func (m MonitorConfigurations) Of(c *v1beta2.FoundationDBCluster, l objects.Launch) (fdb.MonitorConfiguration, error) {
	if configuration, known := m.desired[l]; known {
		return configuration, nil
	}
	configuration, err := objects.MonitorConfiguration(c, l)
	if err == nil {
		m.desired[l] = configuration
	}
	return configuration, err
}

// isCurrent reports whether an accepted configuration has the values of the desired one. An unreadable
// one was not accepted.
func (m MonitorConfigurations) isCurrent(c *v1beta2.FoundationDBCluster, accepted acceptedConfiguration) (bool, error) {
	if current, known := m.current[accepted]; known {
		return current, nil
	}
	want, err := m.Of(c, accepted.launch)
	if err != nil {
		return false, err
	}
	have, err := fdb.ParseMonitorConfiguration([]byte(accepted.text))
	m.current[accepted] = err == nil && equality.Semantic.DeepEqual(have, want)
	return m.current[accepted], nil
}

// OutdatedFiles returns what a pod has not loaded from the ConfigMap yet: everything, for a pod
// that reports nothing.
func (m MonitorConfigurations) OutdatedFiles(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) ([]string, error) {
	launch, err := objects.LaunchOf(pod, g.ProcessClass)
	if err != nil {
		return nil, err
	}
	if launch.ImageType == v1beta2.ImageTypeUnified {
		return m.outdatedConfiguration(s, pod, launch)
	}
	return outdatedCopies(s, pod, launch)
}

// outdatedConfiguration compares what a unified pod's monitor has accepted. The monitor reads
// the cluster file from the mounted ConfigMap itself.
func (m MonitorConfigurations) outdatedConfiguration(s plan.Snapshot, pod *corev1.Pod, launch objects.Launch) ([]string, error) {
	current, err := m.isCurrent(s.Cluster, acceptedConfiguration{launch, s.PodFiles[pod.Name].Configuration})
	if current || err != nil {
		return nil, err
	}
	return []string{"its monitor configuration"}, nil
}

// outdatedCopies compares what a split pod's sidecar has copied.
func outdatedCopies(s plan.Snapshot, pod *corev1.Pod, launch objects.Launch) ([]string, error) {
	files := s.PodFiles[pod.Name]
	conf, err := objects.MonitorConf(s.Cluster, launch, files.Variables)
	if err != nil {
		return nil, err
	}
	var outdated []string
	if files.Hashes[ClusterFile] != Sum(s.Cluster.Status.ConnectionString) {
		outdated = append(outdated, ClusterFile)
	}
	if files.Variables == nil || files.Hashes[MonitorConfFile] != Sum(conf) {
		outdated = append(outdated, MonitorConfFile)
	}
	if binary := objects.CopiedServer(s.Cluster.Spec.Version); IncompatibleUpgrade(s.Cluster) && !files.Present[binary] {
		outdated = append(outdated, binary)
	}
	return outdated, nil
}

// Sum returns the SHA-256 of a file's text in hexadecimal, as the sidecar reports it.
func Sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// ZoneOf returns the fault domain that a pod's processes announce, from the variables that the
// pod substitutes; known is false while the pod has not reported them.
func ZoneOf(c *v1beta2.FoundationDBCluster, variables map[string]string) (zone string, known bool) {
	name := v1beta2.EnvZoneID
	if from := c.FaultDomainValueFrom(); len(from) > 1 && from[0] == '$' {
		name = from[1:]
	}
	zone, known = variables[name]
	return zone, known && zone != ""
}

// FirstAddress returns how the first cluster file names a pod: by DNS name where the spec sets
// that, with the port of the pod's first process.
func FirstAddress(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (fdb.Address, error) {
	address := fdb.Address{Port: objects.FirstPort(c), TLS: c.Spec.MainContainer.EnableTLS}
	if c.UseDNSInClusterFile() {
		address.Host = g.DNSName(c)
		return address, nil
	}
	ips, err := objects.PublicIPs(pod)
	if err != nil {
		return fdb.Address{}, err
	}
	if len(ips) == 0 {
		return fdb.Address{}, fmt.Errorf("pod %s has no IP address yet", pod.Name)
	}
	address.Host = ips[0]
	return address, nil
}

// NeverStarted reports whether the main container of a pod has never run, so that no process of the pod
// can hold anything. Kubernetes keeps a pod Pending while any of its containers has not started, so
// the phase alone proves nothing once containers have a state.
func NeverStarted(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodPending {
		return false
	}
	return !slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.Name == v1beta2.ContainerMain && hasStarted(c)
	})
}

// imageReasons are the reasons of a waiting container that time does not resolve: its image, or what its
// configuration refers to, must be corrected. The first attempt to pull is not among them.
var imageReasons = map[string]bool{"ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true, "ImageInspectError": true, "CreateContainerConfigError": true}

// startingReasons are those of a container that is about to start.
var startingReasons = map[string]bool{"ContainerCreating": true, "PodInitializing": true}

// StartFailure describes why a container of a pod does not start; empty while none is known. Stuck is
// true if time does not resolve it.
func StartFailure(pod *corev1.Pod) (why string, stuck bool) {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		w := c.State.Waiting
		if w == nil || startingReasons[w.Reason] {
			continue
		}
		return fmt.Sprintf("pod %s cannot start container %s: %s, image %s", pod.Name, c.Name, cmp.Or(w.Reason, "it waits"), ImageOf(pod, c)), MustBeCorrected(w)
	}
	if no := NoNodeFits(pod); no != "" {
		return fmt.Sprintf("pod %s is not scheduled: %s", pod.Name, no), false
	}
	return "", false
}

// NoNodeFits returns the scheduler's reasons for which a pod has no node; empty for a pod that has one, and
// for one that the scheduler has not tried yet. The rest of its message, that evicting other pods or
// releasing claims would not help either, is left out.
func NoNodeFits(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse {
			continue
		}
		reasons := strings.Join(strings.Fields(c.Message), " ")
		for _, tail := range []string{" preemption:", " no new claims to deallocate"} {
			reasons, _, _ = strings.Cut(reasons, tail)
		}
		return strings.TrimSuffix(reasons, ".")
	}
	return ""
}

// MustBeCorrected reports whether a container waits for what time does not resolve.
func MustBeCorrected(w *corev1.ContainerStateWaiting) bool {
	return imageReasons[w.Reason]
}

// sharedReasons are those of a container that a pod with the same spec would share, with whether its image is the
// cause. A kubelet that repeats an attempt to pull has ErrImagePull for a moment each time.
var sharedReasons = map[string]bool{
	"CreateContainerConfigError": false,
	"ErrImagePull":               true, "ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true, "ImageInspectError": true,
}

// FailsAnywhere describes why a pod does not start if one with the same spec would not start either, on whatever node:
// a container refers to what does not exist, or no pod of the cluster has ever started its image. Empty otherwise.
func FailsAnywhere(s plan.Snapshot, pod *corev1.Pod) string {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		w := c.State.Waiting
		if w == nil {
			continue
		}
		if ofImage, shared := sharedReasons[w.Reason]; shared && (!ofImage || !wasPulled(s, ImageOf(pod, c))) {
			return fmt.Sprintf("pod %s cannot start container %s: %s, image %s", pod.Name, c.Name, w.Reason, ImageOf(pod, c))
		}
	}
	return ""
}

// wasPulled reports whether a pod of the cluster has started a container of an image.
func wasPulled(s plan.Snapshot, image string) bool {
	for _, pod := range s.Pods {
		for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if ImageOf(pod, c) == image && hasStarted(c) {
				return true
			}
		}
	}
	return false
}

func hasStarted(c corev1.ContainerStatus) bool {
	return c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil || c.RestartCount > 0
}

// ImageOf returns the image that the spec of a pod names for a container.
func ImageOf(pod *corev1.Pod, status corev1.ContainerStatus) string {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if c.Name == status.Name {
			return cmp.Or(c.Image, status.Image)
		}
	}
	return status.Image
}

// InvalidPods returns why the pods with a value that cannot be used are left alone, in the order of the process groups. What is
// known of all other pods stays known.
func InvalidPods(s plan.Snapshot) *Waits {
	var w Waits
	for _, g := range s.Groups() {
		if pod := s.Pod(g); pod != nil {
			if err := objects.ValidatePod(pod, g.ProcessClass); err != nil {
				w.Add(g.ProcessGroupID, "%s", err)
			}
		}
	}
	return &w
}

// podInvalid ends the inspection of a pod with a value that cannot be used: how it was started is unknown, so that nothing shows that it
// differs from the spec.
func podInvalid(_ Inspection, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	return "", objects.ValidatePod(pod, g.ProcessClass)
}

// Waits are the process groups that wait, each with its reason, in order.
type Waits struct {
	Subjects, Reasons []string
}

// Add records why a process group waits.
func (w *Waits) Add(id v1beta2.ProcessGroupID, format string, args ...any) {
	if !slices.Contains(w.Subjects, string(id)) {
		w.Subjects = append(w.Subjects, string(id))
	}
	w.Reasons = append(w.Reasons, fmt.Sprintf(format, args...))
}

// AddAll records why several process groups wait.
func (w *Waits) AddAll(groups []*v1beta2.ProcessGroupStatus, format string, args ...any) {
	for _, g := range groups {
		w.Subjects = append(w.Subjects, string(g.ProcessGroupID))
	}
	w.Reasons = append(w.Reasons, fmt.Sprintf(format, args...))
}

// Hold returns the hold of a stage that waits for them; nil when none waits.
func (w *Waits) Hold(code plan.HoldCode, prefix string, retryAfter time.Duration) *plan.Hold {
	if len(w.Reasons) == 0 {
		return nil
	}
	return &plan.Hold{Code: code, Subjects: w.Subjects, Reason: prefix + SomeOf(w.Reasons), RetryAfter: retryAfter}
}
