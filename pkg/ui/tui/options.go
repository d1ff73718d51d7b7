package tui

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
)

// fdb returns a whole command line of this program; empty arguments are omitted.
func (o *Options) fdb(words ...string) string { return whole(o.Command, "kubectl fdb", words) }

// kubectl returns a whole command line of kubectl.
func (o *Options) kubectl(words ...string) string { return whole(o.Kubectl, "kubectl", words) }

// in returns the options with the command lines of the namespace of a cluster.
func (o *Options) in(cluster string) *Options {
	key := entries.Key(cluster, o.Namespace)
	if o.CommandsIn == nil || key.Namespace == o.Namespace {
		return o
	}
	of := *o
	of.Command, of.Kubectl = o.CommandsIn(key.Namespace)
	return &of
}

func whole(line func(...string) string, program string, words []string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	if line == nil {
		for _, w := range words {
			program += " " + w
		}
		return program
	}
	return line(words...)
}

// What the dashboard receives and requests, by its names in the package entries.
type (
	// Entry is one of the things that the dashboard receives.
	Entry = entries.Entry
	// Feed delivers them.
	Feed = entries.Feed
	// Actions carries out what keys request.
	Actions = entries.Actions
	// Reads reads what keys show.
	Reads = entries.Reads
	// Ask is a request of a key.
	Ask = entries.Ask
	// Proposal is what an action would do.
	Proposal = entries.Proposal
	// Question is a prompt of a running action.
	Question = entries.Question
)
