package objects

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

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
