package ui

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// VersionView is the document of `version`.
type VersionView struct {
	Document
	Client ClientVersion `json:"client"`
	// Server is the API server's version; empty when it was not asked.
	Server string `json:"server,omitempty"`
	// Served are the versions of the FoundationDB resources that it serves.
	Served []string `json:"served"`
	// Operators are the FoundationDB operators of the Kubernetes cluster; null when
	// nobody could tell.
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
	// AsOf is when the database was asked; null when it did not answer.
	AsOf *time.Time `json:"asOf"`
	// Servers are what its processes run now; null when the database did not answer.
	Servers []VersionCount `json:"servers" schema:"nullable"`
	// Tools are what the images of its pods contain, fdbcli among it; null when the
	// pods could not be read.
	Tools []VersionCount `json:"tools" schema:"nullable"`
}

// VersionCount is how often a version was found.
type VersionCount struct {
	Version string `json:"version"`
	Count   int    `json:"count"`
}

// NewVersionView is the document with what is known without asking anybody.
func NewVersionView(m Metadata, client ClientVersion) VersionView {
	return VersionView{Document: NewDocument("Version", m, time.Time{}, SourceLive), Client: client, Served: []string{}, Clusters: []ClusterVersion{}}
}

// NewClusterVersion is what the record of a database says of versions.
func NewClusterVersion(c *v1beta2.FoundationDBCluster) ClusterVersion {
	return ClusterVersion{Namespace: c.Namespace, Name: c.Name, Running: c.Status.RunningVersion, Spec: c.Spec.Version}
}

// Observed adds what its processes and pods say.
func (v ClusterVersion) Observed(f Facts) ClusterVersion {
	images := map[string]int{}
	for _, pod := range f.Pods {
		for _, c := range pod.Spec.Containers {
			if c.Name == v1beta2.ContainerMain {
				images[versionIn(path.Base(c.Image))]++
			}
		}
	}
	v.Tools = counts(images)
	if s := f.Database.Status; s.ListsProcesses() {
		servers := map[string]int{}
		for _, p := range s.ProcessList() {
			servers[versionIn(p.Version)]++
		}
		v.Servers, v.AsOf = counts(servers), known(f.Database.AsOf)
	}
	return v
}

// versionIn is the version in a text, or a question mark.
func versionIn(text string) string {
	version, err := fdb.ParseVersion(text)
	if err != nil {
		return phrase.UnknownCell
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

// Skew says what does not fit together. It forbids nothing: what a pass must not do, its
// own gates refuse.
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
			skew = append(skew, fmt.Sprintf("operator %s/%s is ready: two that act on one cluster undo each other's work", o.Namespace, o.Name))
		}
	}
	return skew
}

func (v ClusterVersion) skew() []string {
	var skew []string
	say := func(format string, args ...any) {
		skew = append(skew, v.Namespace+"/"+v.Name+": "+fmt.Sprintf(format, args...))
	}
	if want, err := fdb.ParseVersion(v.Spec); err == nil {
		if _, ok := want.Protocol(); !ok {
			say("this program does not know FoundationDB %d.%d", want.Major, want.Minor)
		}
	}
	switch {
	case v.Servers == nil:
		return append(skew, fmt.Sprintf("%s/%s: what its servers run is not known: no answer from the database", v.Namespace, v.Name))
	case len(v.Servers) > 1:
		say("its servers run several versions: %s", words(v.Servers))
	case len(v.Servers) == 1 && v.Servers[0].Version != v.Spec:
		say("its servers run %s, its spec asks for %s", v.Servers[0].Version, v.Spec)
	}
	for _, t := range v.Tools {
		if t.Version != phrase.UnknownCell && !v.speaksTo(t.Version) {
			say("fdbcli %s, in %s, does not speak the protocol of its servers", t.Version, phrase.Count(t.Count, "pod"))
		}
	}
	return skew
}

// speaksTo reports whether a tool of this version speaks the protocol of any server.
func (v ClusterVersion) speaksTo(tool string) bool {
	version, err := fdb.ParseVersion(tool)
	return err != nil || len(v.Servers) == 0 || slices.ContainsFunc(v.Servers, func(s VersionCount) bool {
		server, err := fdb.ParseVersion(s.Version)
		return err != nil || server.ProtocolCompatible(version)
	})
}

// words are versions for a cell: "7.3.79(12)".
func words(list []VersionCount) string {
	if list == nil {
		return phrase.UnknownCell
	}
	cells := make([]string, len(list))
	for i, c := range list {
		cells[i] = fmt.Sprintf("%s(%d)", c.Version, c.Count)
	}
	return phrase.Or(strings.Join(cells, ","), phrase.Nothing)
}

// WriteVersion prints a line per fact, and a row per database.
func WriteVersion(w io.Writer, v VersionView, o ListOptions) error {
	fmt.Fprintf(w, "Client: %s (%s, %s)\n", v.Client.Version, v.Client.Go, v.Client.Platform)
	if v.Server == "" {
		return nil
	}
	fmt.Fprintf(w, "Server: %s\n", v.Server)
	fmt.Fprintf(w, "Resources: %s\n", phrase.Or(strings.Join(v.Served, ", "), "none: the FoundationDB resource definitions are not installed"))
	fmt.Fprintf(w, "Operators: %s\n", v.operatorWords())
	if len(v.Clusters) == 0 {
		return nil
	}
	t := Table{Header: o.header([]string{"NAMESPACE", "NAME", "SPEC", "RECORDED", "SERVERS", "FDBCLI", "ASOF"})}
	for _, c := range v.Clusters {
		t.Rows = append(t.Rows, []string{c.Namespace, c.Name, c.Spec, phrase.Or(c.Running, phrase.Nothing), words(c.Servers), words(c.Tools), o.time(c.AsOf)})
	}
	return t.Write(w)
}

func (v VersionView) operatorWords() string {
	if v.Operators == nil {
		return "not known"
	}
	cells := make([]string, len(v.Operators))
	for i, o := range v.Operators {
		cells[i] = fmt.Sprintf("%s/%s %s (%s ready)", o.Namespace, o.Name, phrase.Or(o.Version, phrase.UnknownCell), phrase.Count(o.Ready, "pod"))
	}
	return phrase.Or(strings.Join(cells, ", "), "none")
}
