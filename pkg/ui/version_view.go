package ui

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// VersionView is the document of `version`.
type VersionView struct {
	Document
	Client ClientVersion `json:"client"`
	// Server is the API server's version; empty when it was not asked.
	Server string `json:"server,omitempty"`
	// Served are the versions of the FoundationDB resources that it serves.
	Served []string `json:"served"`
	// Clusters are the databases of the namespace.
	Clusters []ClusterVersion `json:"clusters"`
}

// ClientVersion is this program.
type ClientVersion struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ClusterVersion is one database as its record has it.
type ClusterVersion struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Running is what most processes ran at the last pass; empty before the first.
	Running string `json:"running,omitempty"`
	Spec    string `json:"spec"`
}

// NewVersionView is the document with what is known without asking anybody.
func NewVersionView(m Metadata, client ClientVersion) VersionView {
	return VersionView{Document: NewDocument("Version", m, time.Time{}, SourceLive), Client: client, Served: []string{}, Clusters: []ClusterVersion{}}
}

// WriteVersion prints a line per fact.
func WriteVersion(w io.Writer, v VersionView) error {
	fmt.Fprintf(w, "Client: %s (%s, %s)\n", v.Client.Version, v.Client.Go, v.Client.Platform)
	if v.Server == "" {
		return nil
	}
	fmt.Fprintf(w, "Server: %s\n", v.Server)
	fmt.Fprintf(w, "Resources: %s\n", orText(strings.Join(v.Served, ", "), "none: the FoundationDB resource definitions are not installed"))
	for _, c := range v.Clusters {
		running := orText(c.Running, "not running yet")
		if c.Running != c.Spec {
			running += ", spec " + c.Spec
		}
		fmt.Fprintf(w, "FoundationDB: %s/%s %s\n", c.Namespace, c.Name, running)
	}
	return nil
}
