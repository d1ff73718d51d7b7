package v1beta2

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

// version is a FoundationDB version, as far as a spec has to be judged by it.
type version struct {
	major, minor, patch int
	// candidate is the number of a release candidate, 0 for a release.
	candidate int
}

var versionPattern = regexp.MustCompile(`^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:-rc(\d{1,6}))?$`)

func parseVersion(text string) (version, error) {
	parts := versionPattern.FindStringSubmatch(text)
	if parts == nil {
		return version{}, fmt.Errorf("%q is no version: want X.Y.Z", text)
	}
	var numbers [4]int
	for i, digits := range parts[1:] {
		if digits != "" {
			numbers[i], _ = strconv.Atoi(digits) // at most six digits
		}
	}
	return version{numbers[0], numbers[1], numbers[2], numbers[3]}, nil
}

// atLeast reports whether v is other or newer. A release candidate is older
// than its release.
func (v version) atLeast(other version) bool {
	return cmp.Or(
		cmp.Compare(v.major, other.major),
		cmp.Compare(v.minor, other.minor),
		cmp.Compare(v.patch, other.patch),
		compareCandidates(v.candidate, other.candidate),
	) >= 0
}

func compareCandidates(a, b int) int {
	switch {
	case a == b:
		return 0
	case a == 0:
		return 1
	case b == 0:
		return -1
	default:
		return cmp.Compare(a, b)
	}
}

// protocolCompatible reports whether processes of the two versions can talk to
// each other.
func (v version) protocolCompatible(other version) bool {
	return v.major == other.major && v.minor == other.minor && v.candidate == other.candidate
}

func (v version) String() string {
	text := fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch)
	if v.candidate > 0 {
		text += fmt.Sprintf("-rc%d", v.candidate)
	}
	return text
}

// IsBeingUpgraded reports whether the database runs another version than the
// desired one.
func (c *FoundationDBCluster) IsBeingUpgraded() bool { return c.RunningVersion() != c.Spec.Version }

// IsBeingUpgradedIncompatibly reports whether the database runs a version whose
// processes cannot talk to those of the desired one. All of them have to be
// restarted at once then.
func (c *FoundationDBCluster) IsBeingUpgradedIncompatibly() bool {
	return c.IsBeingUpgraded() && !c.versionsCompatible()
}

func (c *FoundationDBCluster) versionsCompatible() bool {
	running, err := parseVersion(c.RunningVersion())
	if err != nil {
		return false
	}
	desired, err := parseVersion(c.Spec.Version)
	return err == nil && running.protocolCompatible(desired)
}
