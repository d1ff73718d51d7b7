package flags

import (
	"github.com/spf13/pflag"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// resumedFlags are the flags by which a run is recorded, paced, printed and bounded, and those that name a change which nothing
// has stored yet: all others that select what is done are in the command line of the change. Single letters are shorthands.
var resumedFlags = append([]string{
	"reason", "timeout", "interval", "output", "q", "v", "color", "request-timeout", "transport", "cluster-file",
}, session.ProposalFlags...)

// repeatedFlags are the flags of the connection, besides namespace and context, that command lines to
// copy repeat. Tokens and passwords are not among them: hints are kept in logs.
var repeatedFlags = []string{
	"kubeconfig", "cluster", "user", "server", "tls-server-name", "certificate-authority", "client-certificate", "client-key", "insecure-skip-tls-verify", "as", "as-uid", "as-group", "as-user-extra",
}

// NoteTyped notes which flags the user typed, for command lines to copy: those of the connection, and those of the command.
func NoteTyped(g *session.GlobalFlags, connection, command *pflag.FlagSet) {
	var typed []string
	for _, name := range repeatedFlags {
		typed = append(typed, typedWords(connection.Lookup(name))...)
	}
	var resumed []session.TypedFlag
	for _, name := range resumedFlags {
		flag := command.Lookup(name)
		if len(name) == 1 {
			flag = command.ShorthandLookup(name)
		}
		if words := typedWords(flag); len(words) > 0 {
			resumed = append(resumed, session.TypedFlag{Name: "--" + flag.Name, Words: words})
		}
	}
	g.NoteTyped(typed, resumed)
}

// typedWords returns a flag as it was typed; nil if it was not.
func typedWords(f *pflag.Flag) (words []string) {
	if f == nil || !f.Changed {
		return nil
	}
	values := []string{f.Value.String()}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		values = list.GetSlice()
	}
	for _, value := range values {
		switch f.NoOptDefVal {
		case "":
			words = append(words, "--"+f.Name, value)
		case value:
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name+"="+value)
		}
	}
	return words
}
