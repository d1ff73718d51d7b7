package lists

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// FirstOnPath returns a warning if kubectl runs another program than the one at self: found are the
// plugins of this name in the order of the PATH, of which kubectl runs the first. Symbolic links
// must be resolved in both. Without a plugin on the PATH there is no other one.
func FirstOnPath(self string, found []string) []string {
	if len(found) == 0 || found[0] == self {
		return nil
	}
	return []string{fmt.Sprintf("kubectl runs another plugin: %s comes first on the PATH, this program is %s", found[0], self)}
}

// VersionView is the document of `version`.
type VersionView struct {
	inspect.Document
	Client ClientVersion `json:"client"`
	// Server is the API server's version; empty when it was not read.
	Server string `json:"server,omitempty"`
	// Served are the versions of the FoundationDB resources that it serves.
	Served []string `json:"served"`
	// Operators are the FoundationDB operators of the Kubernetes cluster; null when they
	// could not be read.
	Operators []OperatorVersion `json:"operators" schema:"nullable"`
	// Clusters are the databases of the namespace.
	Clusters []ClusterVersion `json:"clusters"`
}

// ClientVersion is this program.
type ClientVersion struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// OperatorVersion is one operator.
type OperatorVersion struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Version is the tag of its image.
	Version string `json:"version,omitempty"`
	// Ready is how many of its pods are.
	Ready int `json:"ready"`
}

// ClusterVersion is one database.
type ClusterVersion struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Running is what most processes ran at the last pass; empty before the first.
	Running string `json:"running,omitempty"`
	Spec    string `json:"spec"`
	// AsOf is when the database status was read; null when the database did not answer.
	AsOf *time.Time `json:"asOf"`
	// Processes are the versions of its processes; null when the database did not answer.
	Processes []VersionCount `json:"processes" schema:"nullable"`
	// Tools are the versions in the images of its pods, that of fdbcli among them; null when
	// the pods could not be read.
	Tools []VersionCount `json:"tools" schema:"nullable"`
	// Facts are known facts about the versions of its processes; null when the database did
	// not answer.
	Facts []versionfacts.Applying `json:"facts" schema:"nullable"`
}

// VersionCount is how often a version was found.
type VersionCount struct {
	// Version is empty where it is unknown.
	Version string `json:"version"`
	Count   int    `json:"count"`
}

// NewVersionView makes the document of what is known without any request.
func NewVersionView(m inspect.Metadata, client ClientVersion) VersionView {
	return VersionView{Document: inspect.NewDocument("Version", m, time.Time{}, inspect.SourceLive), Client: client, Served: []string{}, Clusters: []ClusterVersion{}}
}

// NewClusterVersion returns the versions in the FoundationDBCluster of a database.
func NewClusterVersion(c *v1beta2.FoundationDBCluster) ClusterVersion {
	return ClusterVersion{Namespace: c.Namespace, Name: c.Name, Running: c.Status.RunningVersion, Spec: c.Spec.Version}
}

// Observed adds the versions of its processes and pods.
func (v ClusterVersion) Observed(f inspect.Facts) ClusterVersion {
	images := map[string]int{}
	for _, pod := range f.Pods {
		if image := readings.MainImage(pod); image != "" {
			images[versionIn(path.Base(image))]++
		}
	}
	v.Tools = counts(images)
	if s := f.Database.Status; s.ListsProcesses() {
		processes := map[string]int{}
		for _, p := range s.ProcessList() {
			processes[versionIn(p.Version)]++
		}
		v.Processes, v.AsOf = counts(processes), inspect.Known(f.Database.AsOf)
		v.Facts = []versionfacts.Applying{}
		for _, p := range v.Processes {
			if version, err := fdb.ParseVersion(p.Version); err == nil {
				v.Facts = append(v.Facts, versionfacts.Running(version, f.VersionUse(f.Backups))...)
			}
		}
	}
	return v
}

// versionIn returns the version in a text; empty where there is none.
func versionIn(text string) string {
	version, err := fdb.ParseVersion(text)
	if err != nil {
		return ""
	}
	return version.String()
}

func counts(found map[string]int) []VersionCount {
	list := []VersionCount{}
	for _, version := range slices.Sorted(maps.Keys(found)) {
		list = append(list, VersionCount{version, found[version]})
	}
	return list
}

// Skew lists versions that do not fit together. It forbids nothing: the gates of a pass
// refuse what is unsafe.
func (v VersionView) Skew() []string {
	var skew []string
	if v.Server != "" && !slices.Contains(v.Served, v1beta2.GroupVersion.String()) {
		skew = append(skew, "the API server does not serve "+v1beta2.GroupVersion.String()+", which this program reads and writes")
	}
	for _, c := range v.Clusters {
		skew = append(skew, c.skew()...)
	}
	for _, o := range v.Operators {
		if o.Ready > 0 {
			skew = append(skew, fmt.Sprintf("operator %s/%s is ready: it and this program undo each other's work if both act on one cluster", o.Namespace, o.Name))
		}
	}
	return skew
}

func (v ClusterVersion) skew() []string {
	var skew []string
	add := func(format string, args ...any) {
		skew = append(skew, v.Namespace+"/"+v.Name+": "+fmt.Sprintf(format, args...))
	}
	if want, err := fdb.ParseVersion(v.Spec); err == nil {
		if _, ok := want.Protocol(); !ok {
			add("this program does not support FoundationDB %d.%d", want.Major, want.Minor)
		}
	}
	switch {
	case v.Processes == nil:
		return append(skew, fmt.Sprintf("%s/%s: cannot determine the version of its processes: no answer from the database", v.Namespace, v.Name))
	case len(v.Processes) > 1:
		add("its processes run several versions: %s", Words(v.Processes))
	case len(v.Processes) == 1 && v.Processes[0].Version != v.Spec:
		add("its processes run %s, its spec has %s", v.Processes[0].Version, v.Spec)
	}
	for _, t := range v.Tools {
		if t.Version != "" && !v.speaksTo(t.Version) {
			add("fdbcli %s, in %s, is not protocol compatible with its processes", t.Version, phrase.Count(t.Count, "pod"))
		}
	}
	return skew
}

// speaksTo reports whether a tool of this version is protocol compatible with any process.
func (v ClusterVersion) speaksTo(tool string) bool {
	version, err := fdb.ParseVersion(tool)
	return err != nil || len(v.Processes) == 0 || slices.ContainsFunc(v.Processes, func(p VersionCount) bool {
		process, err := fdb.ParseVersion(p.Version)
		return err != nil || process.ProtocolCompatible(version)
	})
}

// Words are versions for a cell: "7.3.79(12)".
func Words(list []VersionCount) string {
	if list == nil {
		return phrase.UnknownCell
	}
	cells := make([]string, len(list))
	for i, c := range list {
		cells[i] = fmt.Sprintf("%s(%d)", phrase.Or(c.Version, phrase.UnknownCell), c.Count)
	}
	return phrase.Or(strings.Join(cells, ","), phrase.Nothing)
}
