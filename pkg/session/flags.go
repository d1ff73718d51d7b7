package session

import (
	"slices"
	"strings"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // the ways to log in that kubeconfigs name

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// GlobalFlags are common to all commands.
type GlobalFlags struct {
	Color       string
	Quiet       bool
	Verbose     int
	Transport   string // how databases are reached, a direct.Transport
	ClusterFile string // of the native transport; "" for the connection string of the status
}

// Values of --color.
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// Paint returns whether a stream gets colors.
func (e *Env) Paint(stream any) ui.Paint {
	switch {
	case e.Global.Color == ColorAlways:
		return ui.Paint{Color: true}
	case e.Global.Color == ColorNever, e.Getenv("NO_COLOR") != "":
		return ui.Paint{}
	case e.Getenv("CLICOLOR_FORCE") != "" && e.Getenv("CLICOLOR_FORCE") != "0":
		return ui.Paint{Color: true}
	default:
		return ui.Paint{Color: e.IsTerminal(stream) && e.Getenv("TERM") != "dumb"}
	}
}

// Command returns a complete command line of ours to copy, for this context and namespace.
func (e *Env) Command(words ...string) string {
	return e.Kubectl(append([]string{"fdb"}, words...)...)
}

// Kubectl returns a complete command line of kubectl for this context and namespace. They come
// before a "--", which ends the arguments of kubectl.
func (e *Env) Kubectl(words ...string) string {
	namespace, err := e.Connection().Namespace()
	if err != nil {
		namespace = ""
	}
	return e.KubectlIn(namespace, words...)
}

// KubectlIn returns a complete command line of kubectl for another namespace.
func (e *Env) KubectlIn(namespace string, words ...string) string {
	line := append([]string{"kubectl"}, words...)
	var program []string
	if i := slices.Index(line, "--"); i >= 0 {
		line, program = slices.Clone(line[:i]), line[i:]
	}
	return ShellLine(line, namespace, e.Connection().ContextName(), program)
}

// ShellLine returns a complete command line for a namespace and a context, if known; the
// arguments of a program in a pod follow them.
func ShellLine(line []string, namespace, context string, program []string) string {
	if namespace != "" {
		line = append(line, "-n", namespace)
	}
	if context != "" {
		line = append(line, "--context", context)
	}
	line = append(line, program...)
	for i, word := range line {
		line[i] = Quoted(word)
	}
	return strings.Join(line, " ")
}

// Quoted quotes a word for a shell.
func Quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func special(r rune) bool {
	letter := (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9')
	return !letter && !strings.ContainsRune("-_./:=,@%+", r)
}
