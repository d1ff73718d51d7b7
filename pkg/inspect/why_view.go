package inspect

import (
	"time"
)

// Commands makes whole command lines, for the cluster's context and namespace.
type Commands struct {
	FDB, Kubectl func(words ...string) string
}

// CompareTimes orders by time, unknown times last.
func CompareTimes(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	default:
		return a.Compare(*b)
	}
}
