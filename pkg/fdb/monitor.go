package fdb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ArgumentType defines how the monitor generates an argument.
type ArgumentType string

// Argument types. An empty type means ArgumentLiteral.
const (
	ArgumentLiteral       ArgumentType = "Literal"
	ArgumentConcatenate   ArgumentType = "Concatenate"
	ArgumentEnvironment   ArgumentType = "Environment"
	ArgumentProcessNumber ArgumentType = "ProcessNumber"
	ArgumentIPList        ArgumentType = "IPList"
)

// MonitorConfiguration is the config.json of the unified image's monitor.
type MonitorConfiguration struct {
	// Version selects the fdbserver binary.
	Version string `json:"version"`
	// RunServers is false to keep fdbserver stopped; absent means true.
	RunServers *bool `json:"runServers,omitempty"`
	// Arguments follow the binary on fdbserver's command line.
	Arguments []Argument `json:"arguments,omitempty"`
}

// Argument is one argument of fdbserver, or one part of it.
type Argument struct {
	Type ArgumentType `json:"type,omitempty"`
	// Value is a literal's text.
	Value string `json:"value,omitempty"`
	// Values are the parts of a concatenation.
	Values []Argument `json:"values,omitempty"`
	// Source is the environment variable of Environment and IPList.
	Source string `json:"source,omitempty"`
	// Multiplier applies to the process number, from 1; 0 means 1.
	Multiplier int `json:"multiplier,omitempty"`
	// Offset is added to the multiplied process number.
	Offset int `json:"offset,omitempty"`
	// IPFamily is 4 or 6: which address of an IPList to use.
	IPFamily int `json:"ipFamily,omitempty"`
}

// ParseMonitorConfiguration parses a config.json. An unknown field is an error,
// because the command line would be wrong without it.
func ParseMonitorConfiguration(content []byte) (MonitorConfiguration, error) {
	var m MonitorConfiguration
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		return MonitorConfiguration{}, fmt.Errorf("parse monitor configuration: %w", err)
	}
	if decoder.More() {
		return MonitorConfiguration{}, fmt.Errorf("parse monitor configuration: text after the document")
	}
	return m, nil
}

// ServersRun reports whether the monitor starts fdbserver.
func (m MonitorConfiguration) ServersRun() bool { return m.RunServers == nil || *m.RunServers }

// CommandLine returns the command line of process processNumber, from 1: the
// binary and one word per argument.
func (m MonitorConfiguration) CommandLine(binary string, processNumber int, env map[string]string) ([]string, error) {
	words := make([]string, 1, 1+len(m.Arguments))
	words[0] = binary
	for i, a := range m.Arguments {
		word, err := a.Generate(processNumber, env)
		if err != nil {
			return nil, fmt.Errorf("generate argument %d: %w", i, err)
		}
		words = append(words, word)
	}
	return words, nil
}

// Generate returns the argument's text for process processNumber, from 1.
func (a Argument) Generate(processNumber int, env map[string]string) (string, error) {
	switch a.Type {
	case ArgumentLiteral, "":
		return a.Value, nil
	case ArgumentConcatenate:
		return a.concatenate(processNumber, env)
	case ArgumentEnvironment:
		return lookUp(a.Source, env)
	case ArgumentProcessNumber:
		return strconv.Itoa(a.number(processNumber)), nil
	case ArgumentIPList:
		return a.pickIP(env)
	default:
		return "", fmt.Errorf("unknown argument type %q", a.Type)
	}
}

func (a Argument) concatenate(processNumber int, env map[string]string) (string, error) {
	var room [16]string // enough for every argument that is generated here
	parts := room[:0]
	for i := range a.Values {
		part, err := a.Values[i].Generate(processNumber, env)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ""), nil
}

func (a Argument) number(processNumber int) int {
	if a.Multiplier != 0 {
		processNumber *= a.Multiplier
	}
	return processNumber + a.Offset
}

func (a Argument) pickIP(env map[string]string) (string, error) {
	if a.IPFamily != 4 && a.IPFamily != 6 {
		return "", fmt.Errorf("IP family %d: must be 4 or 6", a.IPFamily)
	}
	list, err := lookUp(a.Source, env)
	if err != nil {
		return "", err
	}
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		ip, err := netip.ParseAddr(text)
		if err == nil && ip.Is4() == (a.IPFamily == 4) {
			return text, nil
		}
	}
	return "", fmt.Errorf("no address of IP family %d in %s=%q", a.IPFamily, a.Source, list)
}

func lookUp(name string, env map[string]string) (string, error) {
	value, found := env[name]
	if !found {
		return "", fmt.Errorf("environment variable %q is not set", name)
	}
	return value, nil
}
