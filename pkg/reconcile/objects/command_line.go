package objects

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
