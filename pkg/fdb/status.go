package fdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Status is the used part of the status document. Any part of it may be missing
// at any time, so an optional value is a pointer, an empty string or an empty
// list, and absent never means zero. Fields that are not listed here are
// ignored; the package's tests name them.
type Status struct {
	Client  ClientStatus  `json:"client"`
	Cluster ClusterStatus `json:"cluster"`
}

// ClientStatus is what the tool that fetched the document observed itself. It
// is present even when no process responds.
type ClientStatus struct {
	ClusterFile    ClusterFileStatus  `json:"cluster_file"`
	Coordinators   CoordinatorsStatus `json:"coordinators"`
	DatabaseStatus DatabaseStatus     `json:"database_status"`
	Messages       []Message          `json:"messages"`
	// Timestamp is in Unix seconds.
	Timestamp int64 `json:"timestamp"`
}

// ClusterFileStatus is the state of the tool's cluster file.
type ClusterFileStatus struct {
	Path     string `json:"path"`
	UpToDate *bool  `json:"up_to_date,omitempty"`
}

// CoordinatorsStatus lists the coordinators of the cluster file.
type CoordinatorsStatus struct {
	Coordinators    []CoordinatorStatus `json:"coordinators"`
	QuorumReachable bool                `json:"quorum_reachable"`
}

// CoordinatorStatus is one coordinator.
type CoordinatorStatus struct {
	Address   Address `json:"address"`
	Reachable bool    `json:"reachable"`
	// Protocol is filled even when the versions are incompatible; empty when the
	// coordinator does not respond.
	Protocol string `json:"protocol,omitempty"`
}

// DatabaseStatus summarizes the document.
type DatabaseStatus struct {
	Available bool `json:"available"`
	Healthy   bool `json:"healthy"`
}

// Message is a message of the client, the cluster or a process.
type Message struct {
	Name                 string               `json:"name"`
	Description          string               `json:"description,omitempty"`
	Type                 string               `json:"type,omitempty"`
	RawLogMessage        string               `json:"raw_log_message,omitempty"`
	Time                 *float64             `json:"time,omitempty"`
	UnreachableProcesses []UnreachableProcess `json:"unreachable_processes,omitempty"`
	Reasons              []Reason             `json:"reasons,omitempty"`
	// Issues are those of clients, in the message client_issues.
	Issues []ClientIssue `json:"issues,omitempty"`
}

// ClientIssue is what clients report about themselves, such as incorrect_cluster_file_contents: their cluster
// file has another connection string than they use.
type ClientIssue struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Count       int    `json:"count,omitempty"`
	// Addresses are those of some of the clients.
	Addresses []string `json:"addresses,omitempty"`
}

// UnreachableProcess is one process of a message.
type UnreachableProcess struct {
	Address string `json:"address"`
}

// Reason explains a message.
type Reason struct {
	Description string `json:"description"`
}

var errNoStatus = errors.New("no JSON document")

// ParseStatus parses a status document. Text around the document, which fdbcli
// prints when it is slow or runs several commands, is skipped; a truncated
// document is an error.
func ParseStatus(text []byte) (*Status, error) {
	start := bytes.IndexByte(text, '{')
	if start < 0 {
		return nil, fmt.Errorf("parse status: %w", errNoStatus)
	}
	var document struct {
		Client  *ClientStatus  `json:"client"`
		Cluster *ClusterStatus `json:"cluster"`
	}
	if err := decodeFirst(text[start:], &document); err != nil {
		return nil, fmt.Errorf("parse status: %w", err)
	}
	if document.Client == nil || document.Cluster == nil {
		return nil, fmt.Errorf("parse status: document without client or cluster section")
	}
	return NewStatus(*document.Client, *document.Cluster), nil
}

// NewStatus returns the status of two sections. Its processes have their keys as IDs.
func NewStatus(client ClientStatus, cluster ClusterStatus) *Status {
	for id, p := range cluster.Processes {
		p.ID = id
		cluster.Processes[id] = p
	}
	return &Status{Client: client, Cluster: cluster}
}

// decodeFirst decodes the document that text begins with. A Decoder finds its end
// regardless of what follows, but copies all of the text, megabytes for a large cluster;
// usually nothing with a brace follows, and then the document ends at the last one.
func decodeFirst(text []byte, into any) error {
	if end := bytes.LastIndexByte(text, '}'); json.Unmarshal(text[:end+1], into) == nil {
		return nil
	}
	return json.NewDecoder(bytes.NewReader(text)).Decode(into)
}
