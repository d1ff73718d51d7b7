package flags

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
)

// Manifests adds the flags that name manifests, as kubectl has them; the words say what becomes of them.
func Manifests(cmd *cobra.Command, f *proposal.Files, words string) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.Names, "filename", "f", nil, "file or directory with manifests "+words+", - for stdin")
	flags.StringVarP(&f.Kustomization, "kustomize", "k", "", "directory of a kustomization "+words)
	flags.BoolVarP(&f.Recursive, "recursive", "R", false, "If true, include the directories below those of -f")
	declare.NotInSteps(cmd, "filename", "kustomize", "recursive")
}

// CheckManifests refuses flags that contradict each other.
func CheckManifests(f proposal.Files) error {
	switch {
	case len(f.Names) > 0 && f.Kustomization != "":
		return exit.Usagef("-f conflicts with -k")
	case f.Recursive && len(f.Names) == 0:
		return exit.Usagef("-R requires -f DIRECTORY")
	default:
		return nil
	}
}

// SetNamespace gives a manifest the namespace of the command line, unless it has one.
func SetNamespace(m proposal.Manifest, env *session.Env) error {
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return err
	}
	own := m.Object.GetNamespace()
	if asked := env.Kube.Namespace; own != "" && asked != nil && *asked != "" && *asked != own {
		return exit.Usage(fmt.Errorf("%s: %s has namespace %s, and -n is %s", m.At("metadata.namespace"), m.Title(), own, *asked), "omit -n")
	}
	m.Object.SetNamespace(cmp.Or(own, namespace))
	return nil
}
