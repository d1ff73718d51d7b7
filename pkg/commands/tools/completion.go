package tools

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

// NewCompletion returns the command `completion`.
func NewCompletion(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Support, Pages: []string{"support.md#shell-completion"}, Local: true, NoStep: "it is for shells", Prints: "a script"}, &cobra.Command{
		Use:   "completion SHELL",
		Short: "Generate the shell completion script",
		Long: `Generate the shell completion script for bash, zsh, fish or powershell. It also completes
the names of clusters, process groups, namespaces and contexts.

The script is for kubectl-fdb. For kubectl fdb, use completion install.`,
		Example: `  # Install completion for kubectl fdb
  kubectl-fdb completion install

  # Load completion for kubectl-fdb into the current shell
  source <(kubectl-fdb completion bash)`,
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("shell is required: one of %s", strings.Join(shells, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return writeCompletion(env, cmd.Root(), args[0]) },
	})
	cmd.AddCommand(newCompletionInstall(env))
	return cmd
}

func writeCompletion(e *session.Env, root *cobra.Command, shell string) error {
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(layout.Raw(e.Out), true)
	case "zsh":
		err = root.GenZshCompletion(layout.Raw(e.Out))
	case "fish":
		err = root.GenFishCompletion(layout.Raw(e.Out), true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(layout.Raw(e.Out))
	default:
		return exit.Usagef("unsupported shell %q: must be one of %s", shell, strings.Join(shells, ", "))
	}
	if err != nil {
		return fmt.Errorf("print the completion script: %w", err)
	}
	return nil
}

// CompletionProgram is the program that kubectl 1.26 and newer runs from the PATH to complete
// `kubectl fdb`.
const CompletionProgram = "kubectl_complete-fdb"

// CompletionScript is the content of that program.
const CompletionScript = `#!/bin/sh
# kubectl asks this program for words after "kubectl fdb".
exec kubectl-fdb __complete "$@"
`

// installOptions are the options of `kubectl fdb completion install`.
type installOptions struct {
	dir   string
	force bool
}

func newCompletionInstall(env *session.Env) *cobra.Command {
	var o installOptions
	cmd := declare.Command(declare.Declaration{Effect: declare.Saves, Local: true, NoStep: "it is for shells", Prints: "the path of a file"}, &cobra.Command{
		Use:   "install",
		Short: "Install shell completion for kubectl",
		Long: `Install shell completion for kubectl fdb: write the program ` + CompletionProgram + `, which
kubectl (1.26 and newer) runs to complete arguments of kubectl fdb. It must be on the PATH,
so it is written to the first writable directory of the PATH that has this kubectl-fdb or a
link to it, such as that of Krew. Without one it is written to the directory of kubectl-fdb.
An existing file of that name from another source is not replaced unless --force is given.

On Windows kubectl completes no arguments of plugins, and nothing is installed. The script
of kubectl-fdb completion powershell completes those of kubectl-fdb.`,
		Example: `  # Install completion into a directory on the PATH
  kubectl fdb completion install --dir ~/.local/bin`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run(env) },
	})
	cmd.Flags().StringVar(&o.dir, "dir", "", "directory on the PATH to write to; if empty, that of kubectl-fdb")
	cmd.Flags().BoolVar(&o.force, "force", false, "If true, replace an existing file from another source")
	return cmd
}

func (o installOptions) run(env *session.Env) error {
	if err := supported(runtime.GOOS); err != nil {
		return err
	}
	dir, err := o.directory(env)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, CompletionProgram)
	there, err := limit.File(file, limit.Document)
	switch {
	case err == nil && bytes.Equal(there, []byte(CompletionScript)):
		env.Logf("%s already exists", file)
	case err == nil && !o.force:
		return exit.Usage(fmt.Errorf("%s already exists and is not from kubectl fdb (nothing was changed)", file), "kubectl fdb completion install --force", "kubectl fdb completion install --dir DIR")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return exit.Usage(fmt.Errorf("find an older one: %w", err))
	}
	if err := replaceFile(file, CompletionScript); err != nil {
		return exit.Usage(err, "kubectl fdb completion install --dir DIR")
	}
	fmt.Fprintln(layout.Raw(env.Out), file)
	o.warn(env, dir)
	return nil
}

// supported returns an error on Windows: there kubectl registers kubectl-fdb.exe as the command fdb.exe, so it runs
// no program after the word fdb.
func supported(system string) error {
	if system != "windows" {
		return nil
	}
	return exit.Usage(errors.New("kubectl completes no arguments of plugins on Windows (nothing was changed)"), "kubectl-fdb completion powershell")
}

// directory returns where to write the program. Krew and Homebrew link to this file from a directory on the PATH, and
// its own directory is not on it.
func (o installOptions) directory(env *session.Env) (string, error) {
	if o.dir != "" {
		return o.dir, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", exit.Usage(fmt.Errorf("find this program: %w", err), "kubectl fdb completion install --dir DIR")
	}
	for _, file := range session.PluginsOnPath(env.Getenv("PATH")) {
		if dir := filepath.Dir(file); session.ResolvedPath(file) == session.ResolvedPath(self) && writable(dir) {
			return dir, nil
		}
	}
	return filepath.Dir(self), nil
}

// writable reports whether files can be created in a directory: its mode does not show whether it is on a file system
// that cannot be written.
func writable(dir string) bool {
	probe, err := os.CreateTemp(dir, "."+CompletionProgram+"-")
	if err != nil {
		return false
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name())) == nil
}

// replaceFile writes an executable file atomically, so that a partial one is never run.
func replaceFile(file, text string) error {
	fresh, err := os.CreateTemp(filepath.Dir(file), "."+CompletionProgram+"-")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	_, err = fresh.WriteString(text)
	err = errors.Join(err, fresh.Chmod(0o755), fresh.Close())
	if err == nil {
		err = os.Rename(fresh.Name(), file)
	}
	if err != nil {
		_ = os.Remove(fresh.Name())
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// warn reports what prevents kubectl from finding the program.
func (o installOptions) warn(env *session.Env, dir string) {
	for _, place := range filepath.SplitList(env.Getenv("PATH")) {
		if filepath.Clean(place) == filepath.Clean(dir) {
			return
		}
	}
	env.Logf("warning: %s is not on the PATH: kubectl does not find the program there", dir)
}
