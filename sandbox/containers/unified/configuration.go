package unified

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// accepted is a configuration the monitor can run.
type accepted struct {
	fdb.MonitorConfiguration
	raw    string // as it was read
	binary string // the fdbserver it runs
}

// accept checks a configuration: it must name a version whose binary is there,
// and the arguments of every process must be valid.
func (o Options) accept(raw []byte, env map[string]string) (accepted, error) {
	c, err := fdb.ParseMonitorConfiguration(raw)
	if err != nil {
		return accepted{}, err
	}
	a := accepted{MonitorConfiguration: c, raw: string(raw)}
	if a.binary, err = o.binaryFor(c.Version); err != nil {
		return accepted{}, err
	}
	for n := 1; n <= o.ProcessCount; n++ {
		if _, err := c.CommandLine(a.binary, n, env); err != nil {
			return accepted{}, fmt.Errorf("generate the arguments of process %d: %w", n, err)
		}
	}
	return a, nil
}

// binaryFor is the fdbserver of a version: the image's own when it speaks the
// same protocol.
func (o Options) binaryFor(version string) (string, error) {
	if version == "" {
		return "", errors.New("the configuration has no version")
	}
	desired, err := fdb.ParseVersion(version)
	if err != nil {
		return "", err
	}
	own, err := fdb.ParseVersion(o.Version)
	if err != nil {
		return "", fmt.Errorf("read the image's version: %w", err)
	}
	dir := o.BinaryDir
	if !desired.ProtocolCompatible(own) {
		dir = filepath.Join(o.SharedBinaries, version)
	}
	binary := filepath.Join(dir, "fdbserver")
	info, err := os.Stat(binary)
	if err != nil {
		return "", fmt.Errorf("find the binary: %w", err)
	}
	if info.Mode()&0o100 == 0 {
		return "", fmt.Errorf("binary %s is not executable", binary)
	}
	return binary, nil
}

// environment is what the monitor reports: the variables the arguments name,
// and where the binary is.
func (a accepted) environment(env map[string]string) (string, error) {
	used := map[string]string{"BINARY_DIR": filepath.Dir(a.binary)}
	collect(a.Arguments, env, used)
	text, err := json.Marshal(used)
	if err != nil {
		return "", err
	}
	return string(text), nil
}

func collect(arguments []fdb.Argument, env, used map[string]string) {
	for _, a := range arguments {
		if value, ok := env[a.Source]; ok && a.Source != "" {
			used[a.Source] = value
		}
		collect(a.Values, env, used)
	}
}

// withNodeLabels adds the node's labels to the environment under their variable names.
func withNodeLabels(env, labels map[string]string) map[string]string {
	all := maps.Clone(env)
	for key, value := range labels {
		all["NODE_LABEL_"+variableName(key)] = value
	}
	return all
}

// variableName is a label key in upper case with separators replaced.
func variableName(key string) string {
	name := []byte(key)
	for i, c := range name {
		switch {
		case c >= 'a' && c <= 'z':
			name[i] = c - 'a' + 'A'
		case c == '/' || c == '.' || c == '-':
			name[i] = '_'
		}
	}
	return string(name)
}
