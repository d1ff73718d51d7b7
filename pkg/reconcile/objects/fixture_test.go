package objects

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// given changes the ordinary cluster: 7.3.79, double redundancy, everything by default.
type given func(*v1beta2.FoundationDBCluster)

const sampleConnection = "sample:kD1VnrbPtC6PGq8K@10.1.0.1:4501,10.1.0.2:4501,10.1.0.3:4501"

// sample is the ordinary cluster with changes, normalized, with the status that a
// running cluster of that spec has.
func sample(t *testing.T, changes ...given) *v1beta2.FoundationDBCluster {
	t.Helper()
	c := &v1beta2.FoundationDBCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "fdb", UID: "5ad2", Generation: 3},
		Spec:       v1beta2.FoundationDBClusterSpec{Version: "7.3.79"},
		Status:     v1beta2.FoundationDBClusterStatus{RunningVersion: "7.3.79", ConnectionString: sampleConnection, HasListenIPsForAllPods: true},
	}
	for _, change := range changes {
		change(c)
	}
	status := &c.Status
	if status.RequiredAddresses == (v1beta2.RequiredAddressSet{}) {
		status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: c.Spec.MainContainer.EnableTLS, NonTLS: !c.Spec.MainContainer.EnableTLS}
	}
	if status.ImageTypes == nil {
		status.ImageTypes = []v1beta2.ImageType{c.ImageType()}
	}
	if status.StorageServersPerDisk == nil {
		status.StorageServersPerDisk = []int{c.ServersPerPod(v1beta2.ProcessClassStorage)}
	}
	if status.LogServersPerDisk == nil {
		status.LogServersPerDisk = []int{c.ServersPerPod(v1beta2.ProcessClassLog)}
	}
	normalized, err := c.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	return normalized
}

func group(class v1beta2.ProcessClass, id v1beta2.ProcessGroupID) *v1beta2.ProcessGroupStatus {
	return &v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: class}
}

var (
	storage1   = group(v1beta2.ProcessClassStorage, "storage-1")
	log1       = group(v1beta2.ProcessClassLog, "log-1")
	stateless1 = group(v1beta2.ProcessClassStateless, "stateless-1")
)

func splitImage(c *v1beta2.FoundationDBCluster) { c.Spec.ImageType = new(v1beta2.ImageTypeSplit) }

func withoutDNS(c *v1beta2.FoundationDBCluster) { c.Spec.Routing.UseDNSInClusterFile = new(false) }

func withTLS(c *v1beta2.FoundationDBCluster) { c.Spec.MainContainer.EnableTLS = true }

func twoServers(c *v1beta2.FoundationDBCluster) {
	c.Spec.LogServersPerPod, c.Spec.StorageServersPerPod = 2, 2
}

func ipFamily(family int) given {
	return func(c *v1beta2.FoundationDBCluster) { c.Spec.Routing.PodIPFamily = new(family) }
}

func publicIPFromService(c *v1beta2.FoundationDBCluster) {
	c.Spec.Routing.PublicIPSource = new(v1beta2.PublicIPSourceService)
}

func settings(class v1beta2.ProcessClass, s v1beta2.ProcessSettings) given {
	return func(c *v1beta2.FoundationDBCluster) {
		if c.Spec.Processes == nil {
			c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{}
		}
		c.Spec.Processes[class] = s
	}
}

func template(t corev1.PodTemplateSpec) given {
	return settings(v1beta2.ProcessClassGeneral, v1beta2.ProcessSettings{PodTemplate: &t})
}

func parameters(p ...v1beta2.FoundationDBCustomParameter) given {
	return settings(v1beta2.ProcessClassGeneral, v1beta2.ProcessSettings{CustomParameters: p})
}

// packed packs pods into three fault domains.
func packed(pack v1beta2.BinPack, required bool) given {
	return func(c *v1beta2.FoundationDBCluster) {
		c.Spec.DistributionConfig = &v1beta2.DistributionConfig{Enabled: new(true), DesiredFaultDomains: new(3), BinPack: &pack, Required: &required}
	}
}
