package v1beta2

import (
	"fmt"
	"strconv"
	"strings"
)

// ProcessGroupID names a process group: [<prefix>-]<class>-<number>. In lists
// of the spec that allow it, * stands for all.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^(([\w-]+)-(\d+)|\*)$`
type ProcessGroupID string

// AllProcessGroups stands for every process group where a list allows it.
const AllProcessGroups ProcessGroupID = "*"

// MaxProcessGroupNumber is the largest number in a process group ID. Numbers
// are drawn from 1 to this one. Source: the operator's naming.
const MaxProcessGroupNumber = 99999

// maxProcessGroupIDLength is the longest ID that the API server accepts.
const maxProcessGroupIDLength = 63

// ExclusionLocalityPrefix is the locality by which process groups are excluded.
const ExclusionLocalityPrefix = "locality_instance_id"

// ProcessGroupIDFor is the ID of the process group with this class and number.
func (c *FoundationDBCluster) ProcessGroupIDFor(class ProcessClass, number int) ProcessGroupID {
	id := fmt.Sprintf("%s-%d", class, number)
	if c.Spec.ProcessGroupIDPrefix != "" {
		id = c.Spec.ProcessGroupIDPrefix + "-" + id
	}
	return ProcessGroupID(id)
}

// Split splits an ID. Whatever precedes the class is the prefix.
func (id ProcessGroupID) Split() (prefix string, class ProcessClass, number int, err error) {
	if err := id.check(); err != nil {
		return "", "", 0, err
	}
	rest, digits := cutLast(string(id), "-")
	number, err = strconv.Atoi(digits)
	if err != nil {
		return "", "", 0, fmt.Errorf("read the number of process group ID %q: %w", id, err)
	}
	prefix, last := cutLast(rest, "-")
	return prefix, ProcessClass(last), number, nil
}

// HasPrefix reports whether the ID starts with the desired prefix. The ID of a
// process group created under another prefix does not: it must be replaced.
func (id ProcessGroupID) HasPrefix(prefix string, class ProcessClass) bool {
	if prefix != "" {
		prefix += "-"
	}
	return strings.HasPrefix(string(id), prefix+string(class)+"-")
}

// ExclusionString is what FoundationDB excludes and includes for the process
// group when localities are used.
func (id ProcessGroupID) ExclusionString() string {
	return ExclusionLocalityPrefix + ":" + string(id)
}

// ProcessID returns the process_id locality of a process of the process group,
// counted from 1.
func (id ProcessGroupID) ProcessID(server int) string { return fmt.Sprintf("%s-%d", id, server) }

func (id ProcessGroupID) check() error {
	switch {
	case len(id) > maxProcessGroupIDLength:
		return fmt.Errorf("process group ID %q has %d characters, at most %d are allowed", id, len(id), maxProcessGroupIDLength)
	case !id.wellFormed():
		return fmt.Errorf("%q is not a process group ID: must be [<prefix>-]<class>-<number>", id)
	}
	return nil
}

// wellFormed reports whether the ID matches ^[\w-]+-\d+$. It is called for every
// process group several times per pass, for which a regular expression is too slow.
func (id ProcessGroupID) wellFormed() bool {
	before, digits := cutLast(string(id), "-")
	return before != "" && digits != "" && strings.Trim(before, idLetters) == "" && strings.Trim(digits, idDigits) == ""
}

// The characters of IDs, as in \d and \w.
const (
	idDigits  = "0123456789"
	idLetters = idDigits + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
)

// cutLast splits text at the last separator; without one all of it is after.
func cutLast(text, separator string) (before, after string) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return "", text
	}
	return text[:i], text[i+len(separator):]
}
