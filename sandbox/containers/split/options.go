// Package split is the programs of the split images: a sidecar that
// copies the configuration with its variables filled in and serves an HTTP API, and fdbmonitor, which
// runs fdbserver processes according to a configuration file. Both run inside
// a container and see nothing but the container.
package split

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/containers/copying"
)

// Sidecar is the sidecar's flags and environment.
type Sidecar struct {
	InputDir, OutputDir  string
	InputMonitorConf     string
	CopyFiles            []string
	CopyBinaries         []string
	CopyLibraries        []string
	RequireNotEmpty      []string
	MainContainerVersion string
	MainContainerConfDir string
	SubstituteVariables  []string
	PublicIPFamily       int
	Port                 string
	InitMode             bool
	TLS                  bool

	Version   string // of the image
	Address   string // of the pod, to listen on
	BinaryDir string // of the image's programs
	Env       map[string]string
}

// ParseSidecar reads the sidecar's command line. A flag it does not know is an error.
func ParseSidecar(args []string, version, address string, env map[string]string) (Sidecar, error) {
	s := Sidecar{Version: version, Address: address, BinaryDir: "/usr/bin", Env: env}
	bind := ""
	f := pflag.NewFlagSet("foundationdb-kubernetes-sidecar", pflag.ContinueOnError)
	f.StringVar(&s.InputDir, "input-dir", "/var/input-files", "directory of input files")
	f.StringVar(&s.OutputDir, "output-dir", "/var/output-files", "directory to copy to")
	f.StringVar(&s.InputMonitorConf, "input-monitor-conf", "", "name of the monitor configuration in the input directory")
	f.StringArrayVar(&s.CopyFiles, "copy-file", nil, "file to copy")
	f.StringArrayVar(&s.CopyBinaries, "copy-binary", nil, "binary to copy")
	f.StringArrayVar(&s.CopyLibraries, "copy-library", nil, "version of the client library to copy")
	f.StringArrayVar(&s.RequireNotEmpty, "require-not-empty", nil, "file that must not be empty")
	f.StringVar(&s.MainContainerVersion, "main-container-version", "", "version of the main container")
	f.StringVar(&s.MainContainerConfDir, "main-container-conf-dir", "/var/dynamic-conf", "where the main container sees the output directory")
	f.StringArrayVar(&s.SubstituteVariables, "substitute-variable", nil, "variable to fill in")
	f.IntVar(&s.PublicIPFamily, "public-ip-family", 0, "4 or 6: which of several addresses is the public one")
	f.StringVar(&bind, "bind-address", ":8080", "address to listen on")
	f.BoolVar(&s.InitMode, "init-mode", false, "copy and end")
	f.BoolVar(&s.TLS, "tls", false, "serve TLS")
	if err := f.Parse(args); err != nil {
		return s, fmt.Errorf("read flags: %w", err)
	}
	s.Port = bind[strings.LastIndexByte(bind, ':')+1:]
	return s, s.check()
}

func (s Sidecar) check() error {
	switch {
	case s.Version == "":
		return errors.New("the image has no version")
	case s.Port == "":
		return errors.New("the bind address has no port")
	case len(s.CopyLibraries) > 0:
		return errors.New("the sandbox's images hold no client libraries")
	case s.PublicIPFamily != 0 && s.PublicIPFamily != 4 && s.PublicIPFamily != 6:
		return fmt.Errorf("unknown IP family %d", s.PublicIPFamily)
	}
	return nil
}

// Substitution is one variable and its value.
type Substitution struct{ Name, Value string }

// Substitutions are the variables in the order in which they are filled in.
func (s Sidecar) Substitutions() ([]Substitution, error) {
	public, err := s.address("FDB_PUBLIC_IP")
	if err != nil {
		return nil, err
	}
	machine := first(s.Env["FDB_MACHINE_ID"], s.Env["HOSTNAME"])
	all := []Substitution{
		{"FDB_PUBLIC_IP", public},
		{"FDB_MACHINE_ID", machine},
		{"FDB_ZONE_ID", first(s.Env["FDB_ZONE_ID"], machine)},
		{"FDB_INSTANCE_ID", s.Env["FDB_INSTANCE_ID"]},
	}
	for _, name := range s.SubstituteVariables {
		value := s.Env[name]
		if name == "FDB_POD_IP" {
			if value, err = s.address(name); err != nil {
				return nil, err
			}
		}
		all = append(all, Substitution{name, value})
	}
	return append(all, Substitution{"BINARY_DIR", s.mainBinaryDir()}), nil
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// address picks the address of the requested family from a list; the pod's
// own when the list is empty. An IPv6 address comes in brackets.
func (s Sidecar) address(variable string) (string, error) {
	list := first(s.Env[variable], s.Address)
	for text := range strings.SplitSeq(list, ",") {
		ip, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			return "", fmt.Errorf("read %s: %w", variable, err)
		}
		switch {
		case s.PublicIPFamily == 4 && !ip.Is4(), s.PublicIPFamily == 6 && ip.Is4():
			continue
		case ip.Is4():
			return ip.String(), nil
		}
		return "[" + ip.String() + "]", nil
	}
	return "", fmt.Errorf("no IPv%d address in %s=%s", s.PublicIPFamily, variable, list)
}

// mainBinaryDir is where the main container finds this version's programs.
func (s Sidecar) mainBinaryDir() string {
	if s.MainContainerVersion == s.Version || s.MainContainerVersion == "" {
		return "/usr/bin"
	}
	return path.Join(s.MainContainerConfDir, "bin", s.Version)
}

// FillIn replaces $NAME by values, one variable after the other, as plain text.
func FillIn(text string, substitutions []Substitution) string {
	for _, s := range substitutions {
		text = strings.ReplaceAll(text, "$"+s.Name, s.Value)
	}
	return text
}

func (s Sidecar) substitutionMap() (map[string]string, error) {
	list, err := s.Substitutions()
	if err != nil {
		return nil, err
	}
	return maps.Collect(func(yield func(string, string) bool) {
		for _, entry := range list {
			if !yield(entry.Name, entry.Value) {
				return
			}
		}
	}), nil
}

// CopyAll does what the sidecar does when it starts.
func (s Sidecar) CopyAll() error {
	for _, step := range []func() error{s.CopyConfigFiles, s.CopyPrograms, s.CopyMonitorConf} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// CopyConfigFiles copies the plain files.
func (s Sidecar) CopyConfigFiles() error {
	if err := s.requireContent(); err != nil {
		return err
	}
	return copying.Files(s.CopyFiles, s.InputDir, s.OutputDir)
}

// CopyPrograms copies this version's programs when the main container has others.
func (s Sidecar) CopyPrograms() error {
	if s.MainContainerVersion == "" {
		return nil
	}
	return copying.Binaries(s.CopyBinaries, s.BinaryDir, s.OutputDir, s.Version, s.MainContainerVersion)
}

// atLeast reports whether the image is of at least that version.
func (s Sidecar) atLeast(major, minor, patch int) bool {
	v, err := fdb.ParseVersion(s.Version)
	want, wantErr := fdb.ParseVersion(fmt.Sprintf("%d.%d.%d", major, minor, patch))
	return err == nil && wantErr == nil && v.AtLeast(want)
}

// inside joins a name to a directory and reports whether it stays below it.
func inside(root, name string) (string, bool) {
	full := path.Join(root, name)
	return full, full != path.Clean(root) && strings.HasPrefix(full, path.Clean(root)+"/") && !slices.Contains(strings.Split(name, "/"), "..")
}
