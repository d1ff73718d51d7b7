package readings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

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
