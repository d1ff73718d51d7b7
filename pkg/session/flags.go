package session

import (
	"net"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// GlobalFlags are common to all commands.
type GlobalFlags struct {
	Color       string
	Quiet       bool
	Verbose     int
	Transport   string // how databases are reached, a direct.Transport
	ClusterFile string // of the native transport; "" for the connection string of the status
	From        string // the dump to read; "" for the API server
	// Templates are what the pod templates of resources must not have, in all passes.
	Templates objects.TemplateRestrictions

	typed []string // flags of the connection that the user typed, for command lines to copy
	// resumed are the other flags that the user typed and that a command line which resumes the command repeats.
	resumed []TypedFlag
}

// TypedFlag is a flag that the user typed, as words of a command line.
type TypedFlag struct {
	Name  string
	Words []string
}

// ProposalFlags are the flags that name a change which nothing has stored yet.
var ProposalFlags = []string{"filename", "kustomize", "recursive", "set", "unset"}

// SiteFlags are the flags that name the sites of a database.
var SiteFlags = []string{"contexts", "sites"}

// ResumedFlags returns the flags that the user typed and that a command line which resumes the command repeats, beside those
// of the change and of the connection. A command of the dashboard has none: nothing of it was typed.
func ResumedFlags(e *Env) []TypedFlag { return e.Global.resumed }

// TemplateRestrictions returns what the pod templates of resources must not have. Those of a command are those
// of every command that it runs: a step of a runbook has no such flags of its own.
func TemplateRestrictions(e *Env) objects.TemplateRestrictions {
	if e.within != nil {
		return TemplateRestrictions(e.within)
	}
	return e.Global.Templates
}

// NoteTyped notes which flags the user typed, for command lines to copy: those of the connection, and those of the command.
func (g *GlobalFlags) NoteTyped(connection []string, command []TypedFlag) {
	g.typed, g.resumed = connection, command
}

// CheckAddress checks the address in a flag: HOST:PORT with a numeric port, or empty.
func CheckAddress(flag, address string) error {
	if address == "" {
		return nil
	}
	const bits = 16
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, bits)
	}
	if err != nil {
		return exit.Usagef("%s must be HOST:PORT or :PORT with a port up to 65535, not %q", flag, address)
	}
	return nil
}
