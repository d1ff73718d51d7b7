package objects

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// maxCommandLine is the length, in bytes, above which the status document truncates a
// command line, so that a comparison would always fail.
const maxCommandLine = 10_000

// ErrCommandLineTooLong means that a command line cannot be compared with what the
// database reports. A restart of the process would not help.
var ErrCommandLineTooLong = errors.New("command line is longer than the database reports")

// CommandLine is what the status document should report for process number, from 1, of a
// pod. Variables are those that the pod substitutes; unknown ones stay as $NAME. The split
// image's monitor sorts the arguments.
//
// It is an error when the pod does not report the path of its binary, and
// ErrCommandLineTooLong when the line is too long to be compared.
func CommandLine(c *v1beta2.FoundationDBCluster, l Launch, number int, variables map[string]string) (string, error) {
	m, err := MonitorConfiguration(c, l)
	if err != nil {
		return "", err
	}
	return CommandLineFrom(m, l, number, variables)
}

// CommandLineFrom is CommandLine for callers with many pods of few kinds that have created
// each kind's monitor configuration once.
func CommandLineFrom(m fdb.MonitorConfiguration, l Launch, number int, variables map[string]string) (string, error) {
	dir, found := variables[v1beta2.EnvBinaryDir]
	if !found {
		return "", fmt.Errorf("generate command line: the pod does not report %s", v1beta2.EnvBinaryDir)
	}
	words, err := m.CommandLine(dir+"/fdbserver", number, withPlaceholders(variables, m.Arguments))
	if err != nil {
		return "", fmt.Errorf("generate command line: %w", err)
	}
	if l.ImageType != v1beta2.ImageTypeUnified {
		slices.Sort(words[1:])
	}
	line := strings.Join(words, " ")
	if len(line) > maxCommandLine {
		return "", fmt.Errorf("generate command line of %s: %w", phrase.Count(len(line), "byte"), ErrCommandLineTooLong)
	}
	return line, nil
}

// withPlaceholders adds "$NAME" for every variable that the arguments use and whose value
// is unknown.
func withPlaceholders(variables map[string]string, arguments []fdb.Argument) map[string]string {
	if allKnown(variables, arguments) {
		return variables // as nearly always: there is nothing to add to a copy
	}
	all := maps.Clone(variables)
	if all == nil {
		all = map[string]string{}
	}
	addPlaceholders(all, arguments)
	return all
}

func allKnown(variables map[string]string, arguments []fdb.Argument) bool {
	for i := range arguments {
		a := &arguments[i]
		if !allKnown(variables, a.Values) {
			return false
		}
		if _, known := variables[a.Source]; !known && a.Type == fdb.ArgumentEnvironment {
			return false
		}
	}
	return true
}

func addPlaceholders(variables map[string]string, arguments []fdb.Argument) {
	for _, a := range arguments {
		addPlaceholders(variables, a.Values)
		if a.Type != fdb.ArgumentEnvironment {
			continue
		}
		if _, known := variables[a.Source]; !known {
			variables[a.Source] = "$" + a.Source
		}
	}
}

// MonitorConf is the fdbmonitor.conf of a split pod. With the variables of a pod it is the
// file that the pod should have; with none it is the text in the ConfigMap, with $NAME for
// values that the sidecar substitutes. It is empty without a connection string.
func MonitorConf(c *v1beta2.FoundationDBCluster, l Launch, variables map[string]string) (string, error) {
	if c.Status.ConnectionString == "" {
		return "", nil
	}
	lines := []string{"[general]", "kill_on_configuration_change = false", "restart_delay = 60"}
	if c.Spec.Buggify.EmptyMonitorConf {
		return strings.Join(lines, "\n"), nil
	}
	l.ImageType = v1beta2.ImageTypeSplit
	m, err := MonitorConfiguration(c, l)
	if err != nil {
		return "", err
	}
	variables = withPlaceholders(variables, append(m.Arguments, environment(v1beta2.EnvBinaryDir)))
	for number := 1; number <= l.Servers; number++ {
		server, err := serverLines(m, number, variables)
		if err != nil {
			return "", err
		}
		lines = append(lines, server...)
	}
	return strings.Join(lines, "\n"), nil
}

func serverLines(m fdb.MonitorConfiguration, number int, variables map[string]string) ([]string, error) {
	words, err := m.CommandLine(variables[v1beta2.EnvBinaryDir]+"/fdbserver", number, variables)
	if err != nil {
		return nil, fmt.Errorf("generate monitor configuration of process %d: %w", number, err)
	}
	lines := []string{fmt.Sprintf("[fdbserver.%d]", number), "command = " + words[0]}
	for _, word := range words[1:] {
		lines = append(lines, strings.Replace(strings.TrimPrefix(word, "--"), "=", " = ", 1))
	}
	return lines, nil
}

// Unschedulable is the fault of a pod that only specially labeled nodes take. No
// container has a name like it.
const Unschedulable = "*"

// Faults are the faults that a pod was created with, in a form to compare: the names of the
// containers that crash, sorted, and one word for a pod that hardly any node accepts.
func Faults(spec *corev1.PodSpec) []string {
	var faults []string
	for c := range containers(spec) {
		if CrashLoops(c) {
			faults = append(faults, c.Name)
		}
	}
	if refusesNodes(spec) {
		faults = append(faults, Unschedulable)
	}
	slices.Sort(faults)
	return faults
}

func refusesNodes(spec *corev1.PodSpec) bool {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	return slices.ContainsFunc(required.NodeSelectorTerms, func(term corev1.NodeSelectorTerm) bool {
		return slices.ContainsFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
			return r.Key == v1beta2.LabelNoScheduleAllowed
		})
	})
}

// LeastMemory is what each fdbserver process must be allowed to use: the limit of a pod template that sets none.
// FoundationDB itself asks for 4 GiB per process.
// Source: the operator's default resources; apple.github.io/foundationdb/configuration.html#system-requirements.
var LeastMemory = resource.MustParse("1Gi")

// LittleMemory is a class whose containers are ended by the kernel before fdbserver keeps to a limit of its own.
type LittleMemory struct {
	Class v1beta2.ProcessClass
	// Limit is the memory limit of the main container, which Servers processes share.
	Limit   resource.Quantity
	Servers int
	// Own is the limit that a custom parameter gives each process, where that alone is too much; nil otherwise.
	Own *resource.Quantity
}

// Text returns the limit and what it is compared with.
func (l LittleMemory) Text() string {
	text := fmt.Sprintf("the memory limit of container %s is %s for %s", v1beta2.ContainerMain, l.Limit.String(), phrase.Count(l.Servers, "fdbserver process"))
	if l.Own != nil {
		return fmt.Sprintf("%s, and customParameters let each use %s: the kernel ends them before they keep to that", text, l.Own.String())
	}
	return fmt.Sprintf("%s, %s each required: the kernel ends processes that use more, as fdbserver does under load (its own limit is 8 GiB)", text, LeastMemory.String())
}

// TooLittleMemory returns the classes whose memory limit, visible in the spec alone, does not fit their processes. The
// cluster must be normalized.
func TooLittleMemory(c *v1beta2.FoundationDBCluster) []LittleMemory {
	var all []LittleMemory
	for _, class := range slices.Sorted(maps.Keys(c.DesiredProcessCounts())) {
		template := c.Settings(class).PodTemplate
		if template == nil {
			continue
		}
		main := container(template.Spec.Containers, v1beta2.ContainerMain)
		if main == nil {
			continue
		}
		limit, limited := main.Resources.Limits[corev1.ResourceMemory]
		if l := (LittleMemory{Class: class, Limit: limit, Servers: c.ServersPerPod(class)}); limited && l.judge(c) {
			all = append(all, l)
		}
	}
	return all
}

// judge reports whether the limit is too small, and sets the own limit of the processes where that is the reason.
func (l *LittleMemory) judge(c *v1beta2.FoundationDBCluster) bool {
	if own, set := ownMemory(c, l.Class); set && times(own, l.Servers).Cmp(l.Limit) > 0 {
		l.Own = &own
		return true
	}
	return times(LeastMemory, l.Servers).Cmp(l.Limit) > 0
}

func times(q resource.Quantity, n int) *resource.Quantity {
	q = q.DeepCopy()
	q.Mul(int64(n))
	return &q
}

// ownMemory returns the limit that the custom parameters of a class give each process; false for none, and for one that
// is not understood.
func ownMemory(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) (resource.Quantity, bool) {
	for _, p := range c.Settings(class).CustomParameters {
		_, value, _ := strings.Cut(string(p), "=")
		if ArgumentName(string(p)) != "memory" {
			continue
		}
		bytes, err := fdb.ParseMemory(strings.TrimSpace(value))
		return *resource.NewQuantity(bytes, resource.BinarySI), err == nil
	}
	return resource.Quantity{}, false
}
