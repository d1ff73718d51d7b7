package tui

import "slices"

// fdb returns a whole command line of this program; empty arguments are omitted.
func (o *Options) fdb(words ...string) string { return whole(o.Command, "kubectl fdb", words) }

// kubectl returns a whole command line of kubectl.
func (o *Options) kubectl(words ...string) string { return whole(o.Kubectl, "kubectl", words) }

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
