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

// PodRequests returns the resource requests of a pod: those of its containers and sidecars together,
// or of any one init container, whichever is more.
func PodRequests(pod *corev1.Pod) corev1.ResourceList {
	sum := pod.Spec.Overhead.DeepCopy()
	if sum == nil {
		sum = corev1.ResourceList{}
	}
	add := func(what corev1.ResourceList) {
		for name, n := range what {
			total := sum[name]
			total.Add(n)
			sum[name] = total
		}
	}
	for _, c := range pod.Spec.Containers {
		add(c.Resources.Requests)
	}
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c.Resources.Requests)
		}
	}
	for _, c := range pod.Spec.InitContainers {
		for name, n := range c.Resources.Requests {
			if total := sum[name]; total.Cmp(n) < 0 {
				sum[name] = n
			}
		}
	}
	return sum
}

const monitorLog = pathTraceLogs + "/monitor.log"

// buildUnified sets up the pod of the unified image: a monitor that starts the
// processes, and the same image once more as a sidecar that copies binaries. The
// init container of the split image is removed.
func (b *podBuilder) buildUnified() error {
	if err := b.setUpMain(); err != nil {
		return err
	}
	b.setUpUnifiedMain()
	if err := b.setImage(b.sidecar); err != nil {
		return err
	}
	b.sidecar.Args = []string{
		"--mode", "sidecar",
		"--output-dir", pathSharedBinaries,
		"--main-container-version", b.version,
		"--copy-binary", "fdbserver",
		"--copy-binary", "fdbcli",
		"--log-path", monitorLog,
	}
	addMounts(b.sidecar,
		[2]string{volumeSharedBinaries, pathSharedBinaries},
		[2]string{volumeTraceLogs, pathTraceLogs},
	)
	b.spec.InitContainers = slices.DeleteFunc(b.spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == v1beta2.ContainerInit
	})
	b.starter = nil
	return nil
}

func (b *podBuilder) setUpUnifiedMain() {
	b.main.Args = []string{"--input-dir", pathDynamicConf, "--log-path", monitorLog}
	if b.launch.Servers > 1 {
		b.main.Args = append(b.main.Args, "--process-count", decimal(b.launch.Servers))
	}
	addMounts(b.main,
		[2]string{volumeData, pathData},
		[2]string{volumeConfigMap, pathDynamicConf},
		[2]string{volumeSharedBinaries, pathSharedBinaries},
		[2]string{volumeTraceLogs, pathTraceLogs},
	)
	addVariables(b.main, serversVariable(b.launch)...)
	addVariables(b.main,
		fieldVariable(v1beta2.EnvPodName, fieldPodName),
		fieldVariable(v1beta2.EnvPodNamespace, fieldNamespace),
		variable(v1beta2.EnvTraceLogGroup, b.cluster.LogGroup()),
		variable(v1beta2.EnvTraceEnable, pathTraceLogs),
		fieldVariable(v1beta2.EnvNodeName, fieldNodeName),
	)
	addVariables(b.main, substitutedVariables(b.cluster, b.group)...)
}
