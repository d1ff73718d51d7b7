// Package readings holds what several stages read out of a snapshot: which process groups can be
// excluded or restarted, which pods differ from the spec, how processes are spread, and what other
// control-plane instances announced. It decides nothing.
package readings
