// Package images determines the content of container images. It recognizes the
// images of the FoundationDB project by name and makes, per version, a
// directory of programs; it never pulls anything.
package images

import (
	"path"
	"regexp"
	"strings"
)

// Kind is what an image is for.
type Kind int

// The kinds of images.
const (
	Other          Kind = iota // its container does nothing
	UnifiedMonitor             // fdb-kubernetes-monitor with the programs of a version
	Server                     // the programs of a version
	SplitSidecar               // foundationdb-kubernetes-sidecar with the programs of a version
)

// kinds are the images' base names.
var kinds = map[string]Kind{
	"fdb-kubernetes-monitor":          UnifiedMonitor,
	"foundationdb":                    Server,
	"foundationdb-kubernetes-sidecar": SplitSidecar,
}

// Image is the parsed name of a container image.
type Image struct {
	Kind    Kind
	Version string // of FoundationDB; empty for other images
}

// version is the start of a tag such as 7.3.79-1.
var version = regexp.MustCompile(`^\d+\.\d+\.\d+`)

// Parse parses an image name, such as registry:5000/apple/foundationdb:7.3.79-1.
func Parse(name string) Image {
	base, tag := path.Base(name), ""
	base, _, _ = strings.Cut(base, "@")
	base, tag, _ = strings.Cut(base, ":")
	kind := kinds[base]
	if kind == Other {
		return Image{}
	}
	return Image{Kind: kind, Version: version.FindString(tag)}
}

// Idle is the program that does nothing until it is signaled to end.
const Idle = "fdb-sandbox-idle"

// entrypoints are what a container runs that names no command.
var entrypoints = map[Kind]string{
	Other:          Idle,
	UnifiedMonitor: "fdb-kubernetes-monitor",
	Server:         Idle,
	SplitSidecar:   "foundationdb-kubernetes-sidecar",
}

// Command is what a container of the image runs. A container of an image the
// sandbox does not know does nothing, whatever its command.
func (i Image) Command(command, args []string) []string {
	if i.Kind == Other {
		return []string{Idle}
	}
	if len(command) == 0 {
		command = []string{entrypoints[i.Kind]}
	}
	if command[0] == Idle {
		return command
	}
	return append(append([]string{}, command...), args...)
}

// Files are the small files of the image besides its programs.
func (i Image) Files() map[string]string {
	if i.Version == "" {
		return nil
	}
	return map[string]string{"/var/fdb/version": i.Version}
}

// Directories are the empty directories of the image.
func (i Image) Directories() []string {
	if i.Version == "" {
		return nil
	}
	return []string{"/var/fdb/logs", "/var/fdb/tmp", "/var/fdb/lib", "/var/log/fdb-trace-logs", "/var/dynamic-conf", "/var/input-files", "/var/output-files"}
}
