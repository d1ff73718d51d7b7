package objects

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// sidecarPort is where the split image's sidecar listens.
const sidecarPort = 8080

// buildSplit sets up the pod of the split image: fdbmonitor, a sidecar that writes
// its configuration, and the sidecar once more as init container.
func (b *podBuilder) buildSplit() error {
	if err := b.setUpMain(); err != nil {
		return err
	}
	b.main.Command = []string{"sh", "-c"}
	b.main.Args = []string{"fdbmonitor --conffile " + pathDynamicConf + "/" + fileMonitorConf +
		" --lockfile " + pathDynamicConf + "/fdbmonitor.lockfile" +
		" --loggroup " + b.cluster.LogGroup() +
		" >> " + pathTraceLogs + "/fdbmonitor-$(date '+%Y-%m-%d').log 2>&1"}
	addMounts(b.main,
		[2]string{volumeData, pathData},
		[2]string{volumeDynamicConf, pathDynamicConf},
		[2]string{volumeTraceLogs, pathTraceLogs},
	)
	if err := b.setUpCopier(b.starter); err != nil {
		return err
	}
	b.starter.Args = append(b.starter.Args, "--init-mode")
	if err := b.setUpCopier(b.sidecar); err != nil {
		return err
	}
	b.setUpSplitSidecar()
	return nil
}

// setUpCopier sets what the two containers of the sidecar's image have in common.
func (b *podBuilder) setUpCopier(c *corev1.Container) error {
	c.Args = b.copierArguments()
	addMounts(c, [2]string{volumeConfigMap, pathInputFiles}, [2]string{volumeDynamicConf, pathOutputFiles})
	addVariables(c, substitutedVariables(b.cluster, b.group)...)
	return b.setImage(c)
}

func (b *podBuilder) copierArguments() []string {
	arguments := []string{"--copy-file", fileClusterFile}
	if trustsCAs(b.cluster) {
		arguments = append(arguments, "--copy-file", fileCA)
	}
	arguments = append(arguments,
		"--input-monitor-conf", fileMonitorConf,
		"--copy-binary", "fdbserver",
		"--copy-binary", "fdbcli",
		"--main-container-version", b.version,
	)
	return slices.Concat(arguments, b.familyArguments(), b.substitutionArguments())
}

func (b *podBuilder) familyArguments() []string {
	switch family := b.launch.IPFamily; family {
	case 0:
		return nil
	case 6: // by default the sidecar listens on IPv4 only
		return []string{"--public-ip-family", decimal(family), "--bind-address", "[::]:8080"}
	default:
		return []string{"--public-ip-family", decimal(family)}
	}
}

func (b *podBuilder) substitutionArguments() []string {
	var names []string
	if b.cluster.NeedsExplicitListenAddress() {
		names = append(names, v1beta2.EnvPodIP)
	}
	names = append(names, b.cluster.Spec.SidecarVariables...)
	if b.cluster.DefineDNSLocalityFields() {
		names = append(names, v1beta2.EnvDNSName)
	}
	var arguments []string
	for _, name := range names {
		arguments = append(arguments, "--substitute-variable", name)
	}
	return arguments
}

func (b *podBuilder) setUpSplitSidecar() {
	overrides := b.cluster.Spec.SidecarContainer
	if overrides.EnableTLS {
		b.sidecar.Args = append(b.sidecar.Args, "--tls")
	}
	addVariables(b.sidecar, variable(v1beta2.EnvTLSVerifyPeers, overrides.PeerVerificationRules))
	if trustsCAs(b.cluster) {
		addVariables(b.sidecar, variable(v1beta2.EnvTLSCAFile, pathInputFiles+"/"+fileCA))
	}
	addVariables(b.sidecar, serversVariable(b.launch)...)
	if b.sidecar.LivenessProbe == nil && b.cluster.EnableLivenessProbe() {
		b.sidecar.LivenessProbe = sidecarProbe()
		b.sidecar.LivenessProbe.TimeoutSeconds = 1
		b.sidecar.LivenessProbe.PeriodSeconds = 30
		b.sidecar.LivenessProbe.FailureThreshold = 5
	}
	if b.sidecar.ReadinessProbe == nil && b.cluster.EnableReadinessProbe() {
		b.sidecar.ReadinessProbe = sidecarProbe()
	}
}

// sidecarProbe only connects: a request would need a client certificate.
func sidecarProbe() *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
		TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(sidecarPort)},
	}}
}
