package sim

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/locked"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// Where a pod keeps its cluster files.
const (
	liveClusterFile = "/var/fdb/data/fdb.cluster"
	seedClusterFile = "/var/dynamic-conf/fdb.cluster"
)

// monitorConfigName is the file with the configuration of a unified pod's monitor.
const monitorConfigName = "config.json"

// runningPod is what runs in a pod, and its files.
type runningPod struct {
	files   map[string][]byte
	servers map[int]*locked.ServerHandle
	// configKey is the key of the ConfigMap that is mounted as the monitor's configuration. The volumes
	// of a pod never change.
	configKey string
	// desired is how many processes the pod was created for; 0 when unknown.
	desired int
	// accepted is the configuration in force, by its text and parsed.
	accepted      string
	configuration fdb.MonitorConfiguration
	program       program
	// mounted is the configuration that was read last. One whose program the pod does not have is
	// read again each second.
	mounted parsedConfiguration
	// serving is the version that the processes were started in; the program may be newer.
	serving   string
	variables map[string]string
	split     splitFiles
	// report is what was observed last.
	report podReport
}

// parsedConfiguration is a monitor configuration by its text, and what parsing it gave.
type parsedConfiguration struct {
	text          string
	configuration fdb.MonitorConfiguration
	err           error
}

// read parses the text of a monitor configuration, unless it is that of the last read.
func (p *parsedConfiguration) read(text string) (fdb.MonitorConfiguration, error) {
	if text != p.text || text == "" {
		p.text = text
		p.configuration, p.err = fdb.ParseMonitorConfiguration([]byte(text))
	}
	return p.configuration, p.err
}

// step does the work of nodes in a second: place pods, start them, and run their monitors.
func (w *Cluster) step() {
	for _, name := range w.unsettled() {
		pod := w.Pods[name]
		switch {
		case w.neverStarts(pod): // nothing can be done for it
		case pod.Status.Phase != corev1.PodRunning && w.lacksVolume(pod): // Kubernetes starts no pod without its PVC
		case pod.Spec.NodeName == "":
			w.place(w.edited(name))
		case pod.Status.Phase != corev1.PodRunning && w.Now().Before(pod.CreationTimestamp.Add(w.starts.of(pod))): // its images are pulled
		case pod.Status.Phase != corev1.PodRunning && w.deadImage(pod) != "":
			pullFails(w.edited(name), w.deadImage(pod))
		case pod.Status.Phase != corev1.PodRunning:
			w.start(w.edited(name))
		default:
			w.monitor(pod)
		}
	}
}

// podStarts is how long pods take until they run; the zero value is no time.
type podStarts struct {
	known, pulled time.Duration
	// images are those that nodes have.
	images map[string]bool
}

func startsOf(a Adoption) podStarts {
	p := podStarts{known: a.PodStart, pulled: max(a.PodStart, a.PullStart), images: map[string]bool{}}
	for _, pod := range a.Observed.Pods {
		for i := range pod.Spec.Containers {
			p.images[pod.Spec.Containers[i].Image] = true
		}
	}
	return p
}

// of returns how long a pod takes.
func (p podStarts) of(pod *corev1.Pod) time.Duration {
	for i := range pod.Spec.Containers {
		if !p.images[pod.Spec.Containers[i].Image] {
			return p.pulled
		}
	}
	return p.known
}

// lacksVolume reports whether a PVC that a pod mounts does not exist.
func (w *Cluster) lacksVolume(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && w.Volumes[v.PersistentVolumeClaim.ClaimName] == nil
	})
}

// deadImage returns the name of the first container whose image no node can pull; empty without one.
func (w *Cluster) deadImage(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		image, _, _ := strings.Cut(pod.Spec.Containers[i].Image, ":")
		if w.DeadImages[image] {
			return pod.Spec.Containers[i].Name
		}
	}
	return ""
}

// pullFails shows a pod as the kubelet does whose image it cannot pull.
func pullFails(pod *corev1.Pod, container string) {
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image"}},
	}}
}

// unsettled are the names, in order, of the pods that have something to do by themselves, or only a
// mounted file to read.
func (w *Cluster) unsettled() []string {
	var names []string
	for name, pod := range w.Pods {
		if running := w.running[name]; !w.settled(pod) || (running != nil && running.desired == 0) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// edited returns a pod to change: a copy, which replaces the pod. Observations have the pods
// themselves, which therefore never change.
func (w *Cluster) edited(name string) *corev1.Pod {
	pod := w.Pods[name].DeepCopy()
	w.Pods[name] = pod
	return pod
}

// editedVolume is the same for a PVC.
func (w *Cluster) editedVolume(name string) *corev1.PersistentVolumeClaim {
	claim := w.Volumes[name].DeepCopy()
	w.Volumes[name] = claim
	return claim
}

// place puts a pod on the next node that accepts it, or on one that it prefers, or that has fewer
// pods of its class; without any it stays pending, and so does one that was created to be
// unschedulable.
func (w *Cluster) place(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodPending
	if slices.Contains(objects.Faults(&pod.Spec), objects.Unschedulable) {
		return
	}
	w.nextIP++
	start, tolerated := w.nextIP%len(w.Nodes), w.tolerated(pod)
	inTurn := slices.DeleteFunc(slices.Concat(w.Nodes[start:], w.Nodes[:start]), func(node string) bool { return w.repels(node) || !tolerated(node) })
	if len(inTurn) > 0 {
		preferences, alike := w.preferences(pod), w.alike(pod)
		pod.Spec.NodeName = slices.MinFunc(inTurn, func(a, b string) int {
			return cmp.Or(cmp.Compare(w.liking(preferences, b), w.liking(preferences, a)), cmp.Compare(alike[a], alike[b]))
		})
	}
}

// repels reports whether a node accepts no new pods.
func (w *Cluster) repels(node string) bool {
	return w.Cordoned[node] || w.down[node] || slices.ContainsFunc(w.Taints[node], func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	})
}

// alike is how many pods of a pod's class each node has.
func (w *Cluster) alike(pod *corev1.Pod) map[string]int {
	class, alike := pod.Labels[v1beta2.LabelProcessClass], map[string]int{}
	for _, other := range w.Pods {
		if other.Labels[v1beta2.LabelProcessClass] == class {
			alike[other.Spec.NodeName]++
		}
	}
	return alike
}

func (w *Cluster) start(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodRunning
	w.giveAddresses(pod)
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Ready: !objects.CrashLoops(c)})
	}
	running := &runningPod{files: w.filesOf(pod.Name), servers: map[int]*locked.ServerHandle{}, configKey: mountedAs(pod, monitorConfigName)}
	if launch, err := objects.LaunchOf(pod, v1beta2.ProcessClass(pod.Labels[v1beta2.LabelProcessClass])); err == nil && !slices.Contains(objects.Faults(&pod.Spec), v1beta2.ContainerMain) {
		running.desired = launch.Servers
	}
	running.mountCertificates(pod)
	w.running[pod.Name] = running
	w.copyAll(pod)
}

// monitor does the work of the unified image's monitor: accept the mounted configuration, report
// it in annotations, and keep the processes running.
func (w *Cluster) monitor(pod *corev1.Pod) {
	if w.ConfigMap == nil {
		return
	}
	running := w.running[pod.Name]
	if isSplit(pod) {
		for n := range min(running.desired, len(running.split.commands)) {
			w.keepRunning(pod, n+1)
		}
		return
	}
	if seed := w.ConfigMap.Data[objects.KeyClusterFile]; string(running.files[seedClusterFile]) != seed {
		running.files[seedClusterFile] = []byte(seed)
	}
	if running.desired == 0 {
		return
	}
	if text := w.ConfigMap.Data[running.configKey]; !running.uses(text) {
		configuration, err := running.mounted.read(text)
		if err != nil {
			return // a monitor keeps the configuration it has
		}
		starts, ok := programFor(pod, configuration)
		if !ok {
			return
		}
		running.accepted, running.configuration, running.program = text, configuration, starts
		pod = w.edited(pod.Name)
		running.variables = w.accept(pod, configuration, text)
	}
	if !running.configuration.ServersRun() {
		return
	}
	for n := 1; n <= running.desired; n++ {
		w.keepRunning(pod, n)
	}
}

// uses reports whether a monitor configuration is the one in force.
func (p *runningPod) uses(text string) bool { return p.variables != nil && p.accepted == text }

// settled reports whether a pod has nothing to do by itself in the next second.
func (w *Cluster) settled(pod *corev1.Pod) bool {
	running := w.running[pod.Name]
	switch {
	case w.neverStarts(pod):
		return true
	case pod.Status.Phase != corev1.PodRunning && len(pod.Status.ContainerStatuses) > 0 && w.deadImage(pod) != "":
		return true // a pod that runs keeps its other containers
	case pod.Spec.NodeName == "", pod.Status.Phase != corev1.PodRunning:
		return false
	case w.ConfigMap == nil, running.desired == 0:
		return true
	case isSplit(pod):
		return w.Broken[pod.Name] || len(running.split.commands) == 0 || running.allRun()
	case string(running.files[seedClusterFile]) != w.ConfigMap.Data[objects.KeyClusterFile], !running.uses(w.ConfigMap.Data[running.configKey]):
		return false
	}
	return !running.configuration.ServersRun() || w.Broken[pod.Name] || running.allRun()
}

// neverStarts reports whether a pod has not started, and time does not change that: no node accepts it, its
// node does not work, or its containers do not start.
func (w *Cluster) neverStarts(pod *corev1.Pod) bool {
	switch {
	case pod.Status.Phase == corev1.PodRunning && pod.Spec.NodeName != "":
		return false
	case pod.Spec.NodeName == "":
		return w.Unschedulable[pod.Name] || pod.DeletionTimestamp != nil
	default:
		return w.failing[pod.Name] || w.cannotPull(pod) || pod.DeletionTimestamp != nil || w.observed && w.down[pod.Spec.NodeName]
	}
}

func (p *runningPod) allRun() bool {
	for n := 1; n <= p.desired; n++ {
		if p.servers[n] == nil || ended(p.servers[n]) {
			return false
		}
	}
	return true
}

func ended(handle *locked.ServerHandle) bool {
	select {
	case <-handle.Exited():
		return true
	default:
		return false
	}
}

// mountedAs is the key of the ConfigMap that is mounted in a pod as a file of this name.
func mountedAs(pod *corev1.Pod, file string) string {
	for _, volume := range pod.Spec.Volumes {
		if volume.ConfigMap == nil {
			continue
		}
		for _, item := range volume.ConfigMap.Items {
			if item.Path == file {
				return item.Key
			}
		}
	}
	return ""
}

func (w *Cluster) accept(pod *corev1.Pod, configuration fdb.MonitorConfiguration, text string) map[string]string {
	declared := objects.DeclaredVariables(pod, v1beta2.ContainerMain)
	variables := map[string]string{v1beta2.EnvBinaryDir: w.running[pod.Name].program.dir}
	for key, value := range w.NodeLabels[pod.Spec.NodeName] {
		declared[nodeLabelVariable(key)] = value
	}
	for _, name := range referenced(configuration.Arguments) {
		variables[name] = declared[name]
	}
	encoded, err := json.Marshal(variables)
	if err != nil {
		return variables // a map of strings can always be encoded
	}
	pod.Annotations[v1beta2.AnnotationEnvironment] = string(encoded)
	pod.Annotations[v1beta2.AnnotationCurrentConfiguration] = text
	return variables
}

// nodeLabelVariable is how the unified image's monitor offers a label of its node.
func nodeLabelVariable(key string) string {
	return "NODE_LABEL_" + strings.ToUpper(strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(key))
}

func referenced(arguments []fdb.Argument) []string {
	names := map[string]bool{}
	for _, a := range arguments {
		if a.Source != "" {
			names[a.Source] = true
		}
		for _, name := range referenced(a.Values) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (w *Cluster) keepRunning(pod *corev1.Pod, n int) {
	if w.Broken[pod.Name] {
		return
	}
	running := w.running[pod.Name]
	if handle := running.servers[n]; handle != nil && !ended(handle) {
		return
	}
	args, version, ok := running.command(pod, n)
	if !ok {
		return
	}
	if parsed, err := locked.ParseServerArgs(args); err != nil || !running.canListen(pod, parsed.Public) {
		return // it ends at once, and the monitor tries again
	}
	server := locked.Server{
		Args: args, Version: version, DataKey: w.DataKey(pod.Name, n),
		ClusterFile: file{running, liveClusterFile}, Seed: file{running, seedClusterFile},
	}
	if w.keepsFiles(pod.Name) {
		server.Coordination = volumeFile{w, pod.Name, DataDirectory(n) + "/" + coordinationName}
	}
	handle, err := w.FDB.StartServer(server)
	if err == nil { // else the monitor tries again
		running.servers[n], running.serving = handle, version
	}
}

// command is the command line of a pod's n-th process and the version of its program, and false
// where it cannot start.
func (p *runningPod) command(pod *corev1.Pod, n int) (args []string, version string, ok bool) {
	if isSplit(pod) {
		return p.split.command(pod, n)
	}
	args, err := p.configuration.CommandLine(p.program.dir+"/fdbserver", n, p.variables)
	return args, p.program.version, err == nil
}

// stopPod ends what runs in a pod.
func (w *Cluster) stopPod(name string) {
	if running := w.running[name]; running != nil {
		for _, handle := range running.servers {
			handle.Stop()
		}
	}
	delete(w.running, name)
	delete(w.Pods, name)
	if w.observed {
		delete(w.Broken, name) // what did not report starts again in a new pod
		delete(w.failing, name)
		delete(w.Unending, name)
	}
	if claim := w.Volumes[name+claimSuffix]; claim != nil && claim.DeletionTimestamp != nil {
		w.loseVolume(claim.Name)
	}
}

// KillServers ends the processes of a pod, as a crash would.
func (w *Cluster) KillServers(name string) {
	for _, handle := range w.running[name].servers {
		handle.Stop()
	}
}

// KillPod deletes a pod, as a lost node would.
func (w *Cluster) KillPod(name string) { w.stopPod(name) }

type file struct {
	pod  *runningPod
	name string
}

func (f file) Read() ([]byte, error) { return f.pod.ReadFile(f.name) }

func (f file) Write(content []byte) error { return f.pod.WriteFile(f.name, content) }

var errNoFile = errors.New("no such file")

// ReadFile implements client.FileSystem.
func (p *runningPod) ReadFile(name string) ([]byte, error) {
	content, ok := p.files[name]
	if !ok {
		return nil, errNoFile
	}
	return content, nil
}

// WriteFile implements client.FileSystem.
func (p *runningPod) WriteFile(name string, content []byte) error {
	p.files[name] = content
	return nil
}

// Writable implements client.FileSystem.
func (p *runningPod) Writable(name string) bool { return name == liveClusterFile }
