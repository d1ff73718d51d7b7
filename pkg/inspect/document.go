package inspect

import "time"

// APIVersion is the version of every document that the program prints. Within it,
// fields are only added. docs/json-versions.md lists what changed between versions.
const APIVersion = "cli.kubectl-fdb/v2"

// FirstAPIVersion is the version before it. Recordings of it are converted; see package upgrade.
const FirstAPIVersion = "cli.kubectl-fdb/v1"

// Document is the head of every printed document.
type Document struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	// AsOf is when the newest fact in the document was read.
	AsOf *time.Time `json:"asOf"`
	// Source is where the facts come from.
	Source Source `json:"source"`
	// Warnings are what limits the validity of the document.
	Warnings []string `json:"warnings"`
}

// Metadata identifies the subject of a document and the run that made it.
type Metadata struct {
	// Cluster is the FoundationDBCluster; empty for documents about several.
	Cluster   string `json:"cluster,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Context is the kubeconfig context; empty when the kubeconfig has none.
	Context string `json:"context,omitempty"`
	// Site is which of the sites of the database the facts are of; empty where a command reads one resource.
	Site string `json:"site,omitempty"`
	// Tool is the program and its version.
	Tool string `json:"tool"`
	// RunID is the same in all output and actions of one run of the program.
	RunID string `json:"runId"`
}

// Subject names the resource of a document: its namespace and name, after its site where there are several.
func (m Metadata) Subject() string {
	name := m.Namespace + "/" + m.Cluster
	switch {
	case m.Site != "" && m.Cluster == "":
		return "site " + m.Site
	case m.Site != "":
		return "site " + m.Site + ": " + name
	}
	return name
}

// Source is where a fact comes from.
type Source string

// The sources of facts.
const (
	// SourceLive is a fact that was read just now.
	SourceLive Source = "live"
	// SourceResource is the status of the custom resource, as the last pass wrote it.
	SourceResource Source = "cr-status"
)

// NewDocument returns the head of a document of a kind. A zero time is an unknown one.
func NewDocument(kind string, m Metadata, asOf time.Time, source Source) Document {
	return Document{APIVersion: APIVersion, Kind: kind, Metadata: m, AsOf: Known(asOf), Source: source, Warnings: []string{}}
}

// Known returns a time for a document: UTC, and nil when unknown.
func Known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
