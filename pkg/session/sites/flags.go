package sites

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Variable is the environment variable with the file of sites for every command that reads sites.
const Variable = "KUBECTL_FDB_SITES"

// Flags name the sites of a database. No context is read that they do not name.
type Flags struct {
	// Contexts are kubeconfig contexts, each with the resource that the command's arguments name.
	Contexts []string
	// File is the path of a file of sites; empty for none.
	File string
}

// Scope is whether a command line has another scope than sites, and how: "-A".
type Scope struct {
	Other bool
	Words string
}

// Sites returns the sites that the flags name, or the environment variable unless the command line has another scope or selects
// one API server; none without them.
func (f Flags) Sites(env *session.Env, scope Scope) ([]Site, error) {
	file, one := f.File, session.OnePlace(env)
	switch {
	case scope.Other && (f.Contexts != nil || f.File != ""):
		return nil, exit.Usagef("--contexts and --sites conflict with %s", scope.Words)
	case scope.Other:
		return nil, nil
	case f.Contexts != nil && f.File != "":
		return nil, exit.Usagef("--contexts conflicts with --sites")
	case f.Contexts != nil && len(one) > 0:
		return nil, exit.Usagef("--contexts conflicts with %s", one[0])
	case f.File != "" && len(one) > 0:
		return nil, exit.Usagef("--sites conflicts with %s", one[0])
	case f.Contexts != nil:
		return ofContexts(f.Contexts)
	case file == "" && len(one) == 0:
		file = env.Getenv(Variable)
	}
	if file == "" {
		return nil, nil
	}
	all, err := read(file)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("sites file %s: %w", file, err))
	}
	return all, nil
}

func ofContexts(names []string) ([]Site, error) {
	all := make([]Site, len(names))
	for i, name := range names {
		all[i] = Site{Name: name, Context: name}
	}
	if err := check(all); err != nil {
		return nil, exit.Usage(fmt.Errorf("--contexts: %w", err))
	}
	return all, nil
}
