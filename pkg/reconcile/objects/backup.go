package objects

import (
	"cmp"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// volumeLogs is where agents write their trace files.
const volumeLogs = "logs"

// AgentDeployment is the Deployment of a backup's agents; nil where none are desired. Its
// annotation has the hash of the spec that it was created from, as with the operator.
func AgentDeployment(b *v1beta2.FoundationDBBackup) (*appsv1.Deployment, error) {
	if b.AgentCount() == 0 {
		return nil, nil // no agents are desired
	}
	template, err := agentTemplate(b)
	if err != nil {
		return nil, fmt.Errorf("build the Deployment of the agents: %w", err)
	}
	spec := appsv1.DeploymentSpec{
		Replicas: new(int32(b.AgentCount())), //nolint:gosec // validated not to be negative, and far below the limit
		Selector: &metav1.LabelSelector{MatchLabels: AgentLabels(b)},
		Template: *template,
	}
	hash, err := SpecHash(spec)
	if err != nil {
		return nil, fmt.Errorf("build the Deployment of the agents: %w", err)
	}
	return &appsv1.Deployment{ObjectMeta: agentMetadata(b, hash), Spec: spec}, nil
}

// AgentLabels are the labels by which the pods of a backup's agents are selected.
func AgentLabels(b *v1beta2.FoundationDBBackup) map[string]string {
	return map[string]string{v1beta2.LabelDeploymentName: b.DeploymentName()}
}

func agentMetadata(b *v1beta2.FoundationDBBackup, hash string) metav1.ObjectMeta {
	var m metav1.ObjectMeta
	if b.Spec.BackupDeploymentMetadata != nil {
		m.Labels, m.Annotations = b.Spec.BackupDeploymentMetadata.Labels, b.Spec.BackupDeploymentMetadata.Annotations
	}
	m.Name, m.Namespace = b.DeploymentName(), b.Namespace
	m.Labels = merged(m.Labels, map[string]string{v1beta2.LabelBackupFor: string(b.UID)})
	m.Annotations = merged(m.Annotations, map[string]string{v1beta2.AnnotationLastAppliedSpec: hash})
	m.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1beta2.GroupVersion.String(), Kind: "FoundationDBBackup", Name: b.Name, UID: b.UID, Controller: new(true),
	}}
	return m
}

func agentTemplate(b *v1beta2.FoundationDBBackup) (*corev1.PodTemplateSpec, error) {
	template := &corev1.PodTemplateSpec{}
	if b.Spec.PodTemplateSpec != nil {
		template = b.Spec.PodTemplateSpec.DeepCopy()
	}
	template.Labels = merged(template.Labels, AgentLabels(b))
	spec := &template.Spec
	if container(spec.Containers, v1beta2.ContainerMain) == nil {
		spec.Containers = append([]corev1.Container{{Name: v1beta2.ContainerMain}}, spec.Containers...)
	}
	if container(spec.InitContainers, v1beta2.ContainerInit) == nil {
		spec.InitContainers = append(spec.InitContainers, corev1.Container{Name: v1beta2.ContainerInit})
	}
	if err := setUpAgent(b, container(spec.Containers, v1beta2.ContainerMain)); err != nil {
		return nil, err
	}
	if err := setUpAgentStarter(b, container(spec.InitContainers, v1beta2.ContainerInit)); err != nil {
		return nil, err
	}
	addAgentVolumes(b, spec)
	return template, nil
}

// setUpAgent sets up the container that runs backup_agent. Without a zone of its own an
// agent counts as far away from every process, and its requests time out.
func setUpAgent(b *v1beta2.FoundationDBBackup, c *corev1.Container) (err error) {
	if c.Image, err = b.Image(*c); err != nil {
		return fmt.Errorf("select images: %w", err)
	}
	c.Command = []string{"backup_agent"}
	c.Args = []string{
		"--log", "--logdir", pathTraceLogs,
		"--locality_zoneid=$(" + v1beta2.EnvZoneID + ")", "--locality_machineid=$(" + v1beta2.EnvMachineID + ")",
	}
	if b.Spec.DataCenter != "" {
		c.Args = append(c.Args, "--locality_dcid="+b.Spec.DataCenter)
	}
	for _, parameter := range b.Spec.CustomParameters {
		c.Args = append(c.Args, "--"+string(parameter))
	}
	addVariables(c, variable(v1beta2.EnvClusterFile, fdb.BackupClusterFile), variable(v1beta2.EnvZoneID, b.Name),
		fieldVariable(v1beta2.EnvMachineID, fieldPodName))
	addMounts(c, [2]string{volumeLogs, pathTraceLogs}, [2]string{volumeDynamicConf, pathDynamicConf})
	if c.Resources.Requests == nil {
		c.Resources.Requests = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("8Gi"),
		}
	}
	if c.Resources.Limits == nil {
		c.Resources.Limits = c.Resources.Requests
	}
	return nil
}

// setUpAgentStarter sets up the container that copies the cluster file before the agent
// starts. It is copied once: the agent itself watches later changes.
func setUpAgentStarter(b *v1beta2.FoundationDBBackup, c *corev1.Container) (err error) {
	if c.Image, err = b.Image(*c); err != nil {
		return fmt.Errorf("select images: %w", err)
	}
	c.Args = []string{"--copy-file", fileClusterFile, "--require-not-empty", fileClusterFile}
	if b.ImageType() == v1beta2.ImageTypeUnified {
		c.Args = append(c.Args, "--mode", "init", "--output-dir", pathOutputFiles, "--input-dir", pathInputFiles)
	} else {
		c.Args = append(c.Args, "--init-mode")
	}
	addMounts(c, [2]string{volumeConfigMap, pathInputFiles}, [2]string{volumeDynamicConf, pathOutputFiles})
	if c.SecurityContext == nil {
		c.SecurityContext = &corev1.SecurityContext{}
	}
	if c.SecurityContext.ReadOnlyRootFilesystem == nil {
		c.SecurityContext.ReadOnlyRootFilesystem = new(true)
	}
	return nil
}

// addAgentVolumes appends the volumes that the user's template does not have itself.
func addAgentVolumes(b *v1beta2.FoundationDBBackup, spec *corev1.PodSpec) {
	cluster := v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: b.Spec.ClusterName}}
	volumes := []corev1.Volume{
		emptyVolume(volumeLogs),
		emptyVolume(volumeDynamicConf),
		{Name: volumeConfigMap, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: cluster.ConfigMapName()},
			Items:                []corev1.KeyToPath{{Key: KeyClusterFile, Path: fileClusterFile}},
		}}},
	}
	spec.Volumes = appendMissing(spec.Volumes, volumes, func(v corev1.Volume) string { return v.Name })
}

// BackupURL is the destination of a backup.
func BackupURL(b *v1beta2.FoundationDBBackup) (string, error) {
	return placeURL(b.Spec.BlobStoreConfiguration, b.Name)
}

// RestoreURL is the source of a restore. Its name is that of the restore unless the spec
// sets another, which is nearly always required.
func RestoreURL(r *v1beta2.FoundationDBRestore) (string, error) {
	return placeURL(r.Spec.BlobStoreConfiguration, r.Name)
}

// StoreUsesTLS reports whether a backup or restore accesses its store over TLS.
func StoreUsesTLS(place v1beta2.BlobStoreConfiguration) bool { return backupPlace(place, "").Secure() }

func backupPlace(place v1beta2.BlobStoreConfiguration, name string) fdb.BackupPlace {
	p := fdb.BackupPlace{Account: place.AccountName, Name: cmp.Or(place.BackupName, name), Bucket: place.BucketOrDefault()}
	for _, parameter := range place.URLParameters {
		p.Parameters = append(p.Parameters, string(parameter))
	}
	return p
}

func placeURL(place *v1beta2.BlobStoreConfiguration, name string) (string, error) {
	if place == nil {
		return "", fmt.Errorf("spec.blobStoreConfiguration is not set")
	}
	url, err := backupPlace(*place, name).URL()
	if err != nil {
		return "", fmt.Errorf("spec.blobStoreConfiguration: %w", err)
	}
	return url, nil
}

// Fields of a pod that variables are filled from.
const (
	fieldPodName   = "metadata.name"
	fieldNamespace = "metadata.namespace"
	fieldNodeName  = "spec.nodeName"
	fieldPodIP     = "status.podIP"
	fieldPodIPs    = "status.podIPs"
	fieldPublicIP  = "metadata.annotations['" + v1beta2.AnnotationPublicIP + "']"
)

func variable(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

func fieldVariable(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: path},
	}}
}

// substitutedVariables are what the arguments of the processes refer to.
func substitutedVariables(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) []corev1.EnvVar {
	variables := []corev1.EnvVar{fieldVariable(v1beta2.EnvPublicIP, publicIPField(c))}
	if c.NeedsExplicitListenAddress() {
		variables = append(variables, fieldVariable(v1beta2.EnvPodIP, podIPField(c)))
	}
	variables = append(variables, faultDomainVariables(c)...)
	variables = append(variables, variable(v1beta2.EnvInstanceID, string(g.ProcessGroupID)))
	if c.DefineDNSLocalityFields() {
		variables = append(variables, variable(v1beta2.EnvDNSName, g.DNSName(c)))
	}
	return variables
}

func publicIPField(c *v1beta2.FoundationDBCluster) string {
	if c.PublicIPFromService() {
		return fieldPublicIP
	}
	return podIPField(c)
}

func podIPField(c *v1beta2.FoundationDBCluster) string {
	if c.PodIPFamily() == 0 {
		return fieldPodIP
	}
	return fieldPodIPs
}

// faultDomainVariables identify the fault domain of a pod. A zone that comes from
// a variable of the user's own has none here.
func faultDomainVariables(c *v1beta2.FoundationDBCluster) []corev1.EnvVar {
	machine := fieldVariable(v1beta2.EnvMachineID, fieldNodeName)
	switch {
	case c.FaultDomainKey() == v1beta2.FaultDomainKeyNone:
		return []corev1.EnvVar{
			fieldVariable(v1beta2.EnvMachineID, fieldPodName),
			fieldVariable(v1beta2.EnvZoneID, fieldPodName),
		}
	case c.FaultDomainKey() == v1beta2.FaultDomainKeyKubernetesCluster:
		return []corev1.EnvVar{machine, variable(v1beta2.EnvZoneID, c.Spec.FaultDomain.Value)}
	case strings.HasPrefix(c.FaultDomainValueFrom(), "$"):
		return []corev1.EnvVar{machine}
	default:
		return []corev1.EnvVar{machine, fieldVariable(v1beta2.EnvZoneID, c.FaultDomainValueFrom())}
	}
}

// serversVariable has the number of processes of a pod; none for a single one.
func serversVariable(l Launch) []corev1.EnvVar {
	if l.Servers <= 1 {
		return nil
	}
	return []corev1.EnvVar{variable(l.Class.ServersPerPodVariable(), decimal(l.Servers))}
}

// addVariables appends what the user's template does not set itself.
func addVariables(c *corev1.Container, variables ...corev1.EnvVar) {
	c.Env = appendMissing(c.Env, variables, func(v corev1.EnvVar) string { return v.Name })
}

// addMounts appends the mounts, given as volume and path, whose volume the user's
// template does not mount itself.
func addMounts(c *corev1.Container, pairs ...[2]string) {
	var mounts []corev1.VolumeMount
	for _, p := range pairs {
		mounts = append(mounts, corev1.VolumeMount{Name: p[0], MountPath: p[1]})
	}
	c.VolumeMounts = appendMissing(c.VolumeMounts, mounts, func(m corev1.VolumeMount) string { return m.Name })
}

// appendMissing appends those of more whose name nothing in all has.
func appendMissing[T any](all, more []T, name func(T) string) []T {
	have := map[string]bool{}
	for _, one := range all {
		have[name(one)] = true
	}
	for _, one := range more {
		if !have[name(one)] {
			all = append(all, one)
		}
	}
	return all
}
