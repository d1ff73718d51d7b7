package ui

import "time"

// ListOptions is how a list is printed.
type ListOptions struct {
	Wide, NoHeaders, Absolute bool
	// Now is what ages are counted to.
	Now time.Time
}

// time is a moment as an age, or as it is.
func (o ListOptions) time(t *time.Time) string { return o.at().Age(t) }
