package rebuild

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

const connection = "sample:abcdefgh@sample-log-2.sample.fdb.svc.cluster.local:4501"

// ids are the process groups of a cluster, with their classes.
var ids = []struct {
	class  v1beta2.ProcessClass
	number int
}{{v1beta2.ProcessClassStorage, 1}, {v1beta2.ProcessClassStorage, 7}, {v1beta2.ProcessClassLog, 2}, {v1beta2.ProcessClassStateless, 3}}

// given returns a cluster of this spec, and all that an API server has of it.
func given(t *testing.T, change func(*v1beta2.FoundationDBCluster)) (*v1beta2.FoundationDBCluster, Facts) {
	t.Helper()
	c := &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "fdb", UID: "5ad2"}, Spec: v1beta2.FoundationDBClusterSpec{Version: "7.3.79"}}
	c.Status = v1beta2.FoundationDBClusterStatus{RunningVersion: "7.3.79", ConnectionString: connection, HasListenIPsForAllPods: true}
	change(c)
	c.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: c.Spec.MainContainer.EnableTLS, NonTLS: !c.Spec.MainContainer.EnableTLS}
	c.Status.ImageTypes = []v1beta2.ImageType{c.ImageType()}
	c.Status.StorageServersPerDisk, c.Status.LogServersPerDisk = []int{c.ServersPerPod(v1beta2.ProcessClassStorage)}, []int{c.ServersPerPod(v1beta2.ProcessClassLog)}
	for _, id := range ids {
		c.Status.ProcessGroups = append(c.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{ProcessGroupID: c.ProcessGroupIDFor(id.class, id.number), ProcessClass: id.class})
	}
	n, err := c.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	f := Facts{Name: "sample", Namespace: "fdb", Unread: map[string]string{}, StatusUnknown: "no pod is ready"}
	if f.ConfigMap, err = objects.ConfigMap(n); err != nil {
		t.Fatal(err)
	}
	for _, g := range n.Status.ProcessGroups {
		f.add(t, n, g)
	}
	return n, f
}

// add adds the objects of a process group.
func (f *Facts) add(t *testing.T, n *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) {
	t.Helper()
	pod, err := objects.Pod(n, g)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := objects.LaunchOf(pod, g.ProcessClass)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := objects.ConfigMapHash(n, launch)
	if err != nil {
		t.Fatal(err)
	}
	objects.RecordConfigMap(pod, hash)
	admit(pod)
	f.Pods = append(f.Pods, *pod)
	claim, err := objects.PersistentVolumeClaim(n, g)
	if err != nil || claim == nil {
		return
	}
	if claim.Spec.StorageClassName == nil {
		claim.Spec.StorageClassName = new("default-of-the-api-server")
	}
	f.Claims = append(f.Claims, *claim)
	f.Volumes = append(f.Volumes, corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + claim.Name}, Spec: corev1.PersistentVolumeSpec{
		Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("128G")}, AccessModes: claim.Spec.AccessModes,
		StorageClassName: "fast", ClaimRef: &corev1.ObjectReference{Namespace: "fdb", Name: claim.Name},
	}})
}

// admit adds what an API server adds to a pod.
func admit(pod *corev1.Pod) {
	const seconds = 300
	pod.Spec.NodeName = "node-1"
	if pod.Spec.ServiceAccountName == "" {
		pod.Spec.ServiceAccountName = "default"
	}
	if pod.Spec.SecurityContext == nil {
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	if pod.Spec.TerminationGracePeriodSeconds == nil {
		pod.Spec.TerminationGracePeriodSeconds = new(int64(corev1.DefaultTerminationGracePeriodSeconds))
	}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(seconds))})
	}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "kube-api-access-x7d"})
	for _, all := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range all {
			all[i].ImagePullPolicy, all[i].TerminationMessagePath = corev1.PullIfNotPresent, "/dev/termination-log"
		}
	}
}

// report adds the status document of the database that runs.
func (f *Facts) report(t *testing.T, n *v1beta2.FoundationDBCluster) {
	t.Helper()
	configuration := objects.DesiredConfiguration(n)
	s := &fdb.Status{}
	ip := "10.0.0.1"
	if n.PodIPFamily() != 0 {
		ip += ",fd00::1"
	}
	s.Cluster.ConnectionString, s.Cluster.Configuration, s.Cluster.Processes = connection, &configuration, map[string]fdb.Process{}
	for i := range f.Pods {
		id, class := f.Pods[i].Labels[v1beta2.LabelProcessGroupID], v1beta2.ProcessClass(f.Pods[i].Labels[v1beta2.LabelProcessClass])
		line, err := objects.CommandLine(n, objects.DesiredLaunch(n, class), 1, map[string]string{v1beta2.EnvBinaryDir: "/usr/bin", v1beta2.EnvInstanceID: id, v1beta2.EnvPublicIP: ip, v1beta2.EnvPodIP: ip, v1beta2.EnvZoneID: "node-1", v1beta2.EnvMachineID: "node-1", v1beta2.EnvDNSName: "name"})
		if err != nil {
			t.Fatal(err)
		}
		locality := map[string]string{fdb.LocalityInstanceID: id}
		for key, value := range map[string]string{fdb.LocalityDCID: n.Spec.DataCenter, fdb.LocalityDataHall: n.Spec.DataHall} {
			if value != "" {
				locality[key] = value
			}
		}
		s.Cluster.Processes[id] = fdb.Process{ID: id, Version: n.Spec.Version, CommandLine: line, Locality: locality}
	}
	f.Status = s
}
