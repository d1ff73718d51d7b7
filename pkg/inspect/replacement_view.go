package inspect

import (
	"slices"
)

// AllReached reports whether all targets are reached.
func AllReached(targets []Target) bool {
	return !slices.ContainsFunc(targets, func(t Target) bool { return !t.Reached })
}
