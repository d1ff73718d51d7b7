package sim

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The files that a sidecar copies, by the names by which passes request them.
const (
	clusterFileName = "fdb.cluster"
	monitorConfName = "fdbmonitor.conf"
	copiedBinaries  = "bin/"
	sharedVolume    = "/var/dynamic-conf/"
)

// splitFiles is what the sidecar of a split pod has copied. Its fdbmonitor reads nothing else.
type splitFiles struct {
	conf     string
	commands [][]string
	// binaries are the copied programs by their path in the volume that both containers share.
	binaries map[string]bool
}

func isSplit(pod *corev1.Pod) bool { return objects.ImageTypeOf(pod) == v1beta2.ImageTypeSplit }

// copyAll does what the init container of a split pod does.
func (w *Cluster) copyAll(pod *corev1.Pod) {
	if !isSplit(pod) || w.ConfigMap == nil {
		return
	}
	for _, file := range []string{clusterFileName, monitorConfName, copiedBinaries} {
		w.copyFile(pod, file)
	}
}

// copyFile does what the sidecar of a split pod does when it is requested to copy a file.
func (w *Cluster) copyFile(pod *corev1.Pod, file string) {
	running := w.running[pod.Name]
	switch {
	case strings.HasPrefix(file, copiedBinaries):
		running.split.have(imageVersion(pod, v1beta2.ContainerSidecar).String())
	case file == monitorConfName:
		running.split.use(w.substituted(pod))
	default:
		running.files[seedClusterFile] = []byte(w.ConfigMap.Data[objects.KeyClusterFile])
	}
}

func (f *splitFiles) have(version string) {
	if f.binaries == nil {
		f.binaries = map[string]bool{}
	}
	f.binaries[objects.CopiedServer(version)] = true
}

func (f *splitFiles) use(conf string) { f.conf, f.commands = conf, commandsOf(conf) }

// substituted is the mounted monitor configuration with the values of a pod.
func (w *Cluster) substituted(pod *corev1.Pod) string {
	variables := substitutions(pod)
	names := slices.SortedFunc(maps.Keys(variables), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) // no name is cut off by one that it begins with
	})
	var pairs []string
	for _, name := range names {
		pairs = append(pairs, "$"+name, variables[name])
	}
	return strings.NewReplacer(pairs...).Replace(w.ConfigMap.Data[mountedAs(pod, monitorConfName)])
}

// substitutions are the values of a sidecar. Of several addresses it takes that of the pod's family,
// and it writes those of IPv6 in brackets.
func substitutions(pod *corev1.Pod) map[string]string {
	variables := objects.SidecarVariables(pod)
	family, err := objects.IPFamilyOf(pod)
	if err != nil {
		family = 0
	}
	for _, name := range []string{v1beta2.EnvPublicIP, v1beta2.EnvPodIP} {
		if list, declared := variables[name]; declared {
			variables[name] = bracketed(ofFamily(list, family))
		}
	}
	return variables
}

// ofFamily is the first address of a list that is of a family, 4 or 6; with 0 just the first.
func ofFamily(list string, family int) string {
	const six = 6
	for text := range strings.SplitSeq(list, ",") {
		ip, err := netip.ParseAddr(strings.TrimSpace(text))
		if err == nil && (family == 0 || ip.Is6() == (family == six)) {
			return ip.String()
		}
	}
	return ""
}

func bracketed(ip string) string {
	if strings.Contains(ip, ":") {
		return "[" + ip + "]"
	}
	return ip
}

// commandsOf are the command lines in an fdbmonitor.conf, in the order of its sections. fdbmonitor
// passes the arguments of each in alphabetical order.
func commandsOf(conf string) [][]string {
	var commands [][]string
	for line := range strings.Lines(conf) {
		line = strings.TrimSpace(line)
		name, value, _ := strings.Cut(line, " = ")
		switch {
		case strings.HasPrefix(line, "[fdbserver."):
			commands = append(commands, nil)
		case len(commands) == 0: // the section that is not about a process
		case name == "command":
			commands[len(commands)-1] = append(commands[len(commands)-1], value)
		default:
			commands[len(commands)-1] = append(commands[len(commands)-1], "--"+name+"="+value)
		}
	}
	for _, words := range commands {
		if len(words) > 1 {
			slices.Sort(words[1:])
		}
	}
	return commands
}

// command is the command line of a split pod's n-th process and the version of its program, and false
// without one.
func (f *splitFiles) command(pod *corev1.Pod, n int) (args []string, version string, ok bool) {
	if n > len(f.commands) || len(f.commands[n-1]) == 0 {
		return nil, "", false
	}
	args = f.commands[n-1]
	copied, isCopy := strings.CutPrefix(args[0], sharedVolume+copiedBinaries)
	if !isCopy {
		return args, imageVersion(pod, v1beta2.ContainerMain).String(), true
	}
	version, _, _ = strings.Cut(copied, "/")
	return args, version, f.binaries[objects.CopiedServer(version)]
}

// splitReport is what a sidecar reports of its files.
func (w *Cluster) splitReport(pod *corev1.Pod) plan.PodReport {
	running := w.running[pod.Name]
	if running == nil {
		return plan.PodReport{Unreachable: "the sidecar does not run"}
	}
	report := plan.PodReport{Variables: substitutions(pod), Hashes: map[string]string{}, Present: maps.Clone(running.split.binaries)}
	if file, there := running.files[seedClusterFile]; there {
		report.Hashes[clusterFileName] = sum(string(file))
	}
	if running.split.conf != "" {
		report.Hashes[monitorConfName] = sum(running.split.conf)
	}
	return report
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// adoptSplit is what the sidecar of an observed pod has copied. One whose files were not read has
// confirmed them; of another that has not copied the current ones it is unknown which it has.
func (w *Cluster) adoptSplit(pod *corev1.Pod, report plan.PodReport) {
	if !isSplit(pod) || w.ConfigMap == nil {
		return
	}
	running := w.running[pod.Name]
	w.copyAll(pod)
	if report.Hashes != nil && report.Hashes[monitorConfName] != sum(running.split.conf) {
		running.split.conf, running.split.commands = "", nil
	}
	if report.Hashes != nil && report.Hashes[clusterFileName] != sum(string(running.files[seedClusterFile])) {
		delete(running.files, seedClusterFile)
	}
	maps.Copy(running.split.binaries, report.Present)
}

// keepCommand has an observed process start again as it was started, while its pod has no
// configuration that is known.
func (f *splitFiles) keepCommand(n int, args []string) {
	if f.conf != "" {
		return
	}
	for len(f.commands) < n {
		f.commands = append(f.commands, nil)
	}
	f.commands[n-1] = args
}

// syncPodFiles has a sidecar copy files.
func (w *Cluster) syncPodFiles(a plan.SyncPodFiles) error {
	pod := w.Pods[a.Pod]
	if pod == nil || w.running[a.Pod] == nil || w.ConfigMap == nil {
		return fmt.Errorf("pod %s does not run", a.Pod)
	}
	for _, file := range a.Files {
		w.copyFile(pod, file)
	}
	return nil
}
