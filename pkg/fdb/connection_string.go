package fdb

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ConnectionString identifies a database and its coordinators: the content of a
// cluster file. The zero value means none.
type ConnectionString struct {
	// Description is the human-readable half of the name: letters, digits, "_".
	Description string
	// ID is the other half: letters and digits, new after each coordinator change.
	ID string
	// Coordinators keep the order of the text.
	Coordinators []Address
}

var (
	descriptionPattern = regexp.MustCompile(`^[A-Za-z0-9_]+$`)
	idPattern          = regexp.MustCompile(`^[A-Za-z0-9]+$`)
)

// ParseConnectionString parses "description:id@coordinator,…". Description and
// ID are mandatory, and coordinators must be unique.
func ParseConnectionString(text string) (ConnectionString, error) {
	name, list, found := strings.Cut(strings.TrimSpace(text), "@")
	if !found {
		return ConnectionString{}, fmt.Errorf("parse connection string %q: missing @", text)
	}
	description, id, found := strings.Cut(name, ":")
	if !found {
		return ConnectionString{}, fmt.Errorf("parse connection string %q: missing : in its name", text)
	}
	coordinators, err := ParseAddresses(list)
	if err != nil {
		return ConnectionString{}, fmt.Errorf("parse connection string %q: %w", text, err)
	}
	s := ConnectionString{Description: description, ID: id, Coordinators: coordinators}
	if err := s.Check(); err != nil {
		return ConnectionString{}, fmt.Errorf("parse connection string %q: %w", text, err)
	}
	return s, nil
}

// ParseClusterFile parses a cluster file: a connection string between blank
// lines and lines that start with "#".
func ParseClusterFile(content string) (ConnectionString, error) {
	var text strings.Builder
	for line := range strings.Lines(content) {
		line, _, _ = strings.Cut(line, "#")
		text.WriteString(strings.TrimSpace(line))
	}
	return ParseConnectionString(text.String())
}

// Check returns an error unless the connection string is valid.
func (s ConnectionString) Check() error {
	if !descriptionPattern.MatchString(s.Description) {
		return fmt.Errorf("description %q: must be letters, digits and _", s.Description)
	}
	if !idPattern.MatchString(s.ID) {
		return fmt.Errorf("id %q: must be letters and digits", s.ID)
	}
	return checkCoordinators(s.Coordinators)
}

func checkCoordinators(coordinators []Address) error {
	if len(coordinators) == 0 {
		return fmt.Errorf("no coordinators")
	}
	seen := make(map[string]bool, len(coordinators))
	for _, c := range coordinators {
		if c.Port == 0 || c.FromHostname {
			return fmt.Errorf("coordinator %s: must be host:port or host:port:tls", c)
		}
		if seen[c.HostPort()] {
			return fmt.Errorf("coordinator %s: duplicate", c.HostPort())
		}
		seen[c.HostPort()] = true
	}
	return nil
}

// IsZero reports whether the connection string is absent.
func (s ConnectionString) IsZero() bool {
	return s.Description == "" && s.ID == "" && len(s.Coordinators) == 0
}

// String returns the content of a cluster file; empty for the zero value.
func (s ConnectionString) String() string {
	if s.IsZero() {
		return ""
	}
	coordinators := make([]string, len(s.Coordinators))
	for i, c := range s.Coordinators {
		coordinators[i] = c.Coordinator()
	}
	return s.Description + ":" + s.ID + "@" + strings.Join(coordinators, ",")
}

// SameCoordinators reports whether both have the same set of coordinators.
// FoundationDB lists them in different orders in different places.
func (s ConnectionString) SameCoordinators(coordinators []Address) bool {
	return slices.Equal(coordinatorTexts(s.Coordinators), coordinatorTexts(coordinators))
}

func coordinatorTexts(coordinators []Address) []string {
	texts := make([]string, len(coordinators))
	for i, c := range coordinators {
		texts[i] = c.Coordinator()
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}
