package ui

import "time"

// APIVersion is the version of every document that the program prints. Within it,
// fields are only added. docs/json-versions.md lists what changed between versions.
const APIVersion = "cli.kubectl-fdb/v2"

// firstAPIVersion is the version before it. Recordings of it are converted; see Upgraded.
const firstAPIVersion = "cli.kubectl-fdb/v1"

// Document is the head of every printed document.
type Document struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	// AsOf is when the newest fact in the document was read.
	AsOf *time.Time `json:"asOf"`
	// Source is where the facts come from.
	Source Source `json:"source"`
	// Warnings are what the reader has to know before believing the document.
	Warnings []string `json:"warnings"`
}

// Metadata says what a document is about and who made it.
type Metadata struct {
	// Cluster is the FoundationDBCluster; empty for documents about several.
	Cluster   string `json:"cluster,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Context is the kubeconfig context; empty when the kubeconfig has none.
	Context string `json:"context,omitempty"`
	// Tool is the program and its version.
	Tool string `json:"tool"`
	// RunID is the same for everything that one run of the program says and does.
	RunID string `json:"runId"`
}

// Source says where a fact comes from.
type Source string

// The sources of facts.
const (
	// SourceLive was asked just now.
	SourceLive Source = "live"
	// SourceRecord is the status that the last pass wrote into the custom resource.
	SourceRecord Source = "cr-status"
)

// NewDocument is the head of a document of a kind. A zero time is an unknown one.
func NewDocument(kind string, m Metadata, asOf time.Time, source Source) Document {
	return Document{APIVersion: APIVersion, Kind: kind, Metadata: m, AsOf: known(asOf), Source: source, Warnings: []string{}}
}

// known is a time for a document: UTC, and nil when it is not known.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
