package objects

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// SplitFileHashes are the SHA-256 sums, in hex, of the files that a split pod
// should have made from the config map, by file name. Variables are those that
// the pod substitutes.
func SplitFileHashes(c *v1beta2.FoundationDBCluster, l Launch, variables map[string]string) (map[string]string, error) {
	monitor, err := MonitorConf(c, l, variables)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		FileClusterFile: fileHash(c.Status.ConnectionString),
		FileMonitorConf: fileHash(monitor),
	}, nil
}

func fileHash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// HasAcceptedConfiguration reports whether a unified pod's monitor says that it
// took the configuration that it should have. A monitor that refuses one, because
// its binary is not there yet for example, keeps reporting the one before.
func HasAcceptedConfiguration(c *v1beta2.FoundationDBCluster, l Launch, pod *corev1.Pod) (bool, error) {
	current, known, err := CurrentConfiguration(pod)
	if err != nil || !known {
		return false, err
	}
	wanted, err := MonitorConfiguration(c, l)
	if err != nil {
		return false, err
	}
	return reflect.DeepEqual(wanted, current), nil
}
