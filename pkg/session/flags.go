package session

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the ways to log in that kubeconfigs name

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
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

// Values of --color.
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// Paint returns whether a stream gets colors, and pictures in other characters than ASCII.
func (e *Env) Paint(stream any) ui.Paint {
	return ui.Paint{Color: hasColors(e, stream), ASCII: isASCII(e.Getenv)}
}

func hasColors(e *Env, stream any) bool {
	switch {
	case e.Global.Color == ColorAlways:
		return true
	case e.Global.Color == ColorNever, e.Getenv("NO_COLOR") != "":
		return false
	case e.Getenv("CLICOLOR_FORCE") != "" && e.Getenv("CLICOLOR_FORCE") != "0":
		return true
	default:
		return e.IsTerminal(stream) && e.Getenv("TERM") != "dumb"
	}
}

// isASCII reports whether the locale has no UTF-8, or the font of the terminal few of its characters, as that of the
// Linux console. Without a locale, as in many containers, terminals are taken to be of this century.
func isASCII(getenv func(string) string) bool {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	utf8 := strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
	return locale != "" && !utf8 || getenv("TERM") == "linux"
}

// Command returns a complete command line of ours to copy, for this context and namespace.
func (e *Env) Command(words ...string) string {
	line := append([]string{"fdb"}, words...)
	at := len(line)
	if i := slices.Index(line, "--"); i >= 0 {
		at = i
	}
	return e.Kubectl(slices.Insert(line, at, TemplateRestrictions(e).Args()...)...)
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
	return e.Where(namespace).ShellLine(line, program)
}

// Where returns what command lines about a namespace repeat.
func (e *Env) Where(namespace string) Where {
	return Where{Namespace: namespace, Context: e.Connection().ContextName(), Flags: e.Global.typed}
}

// kubectlConfig returns a command line of kubectl config, which reads the kubeconfig and no API
// server.
func kubectlConfig(e *Env, words ...string) string {
	var flags []string
	if file := text(e.Kube.KubeConfig); file != "" && slices.Contains(e.Global.typed, "--kubeconfig") {
		flags = []string{"--kubeconfig", file}
	}
	return Where{Flags: flags}.ShellLine(append([]string{"kubectl", "config"}, words...), nil)
}

// Where is what command lines to copy repeat, so that they act in the same place and as the same
// user.
type Where struct {
	// Namespace and Context are omitted if empty.
	Namespace, Context string
	// Flags are the other flags, with their values.
	Flags []string
}

// NoteTyped notes which flags the user typed, for command lines to copy: those of the connection, and those of the command.
func (g *GlobalFlags) NoteTyped(connection []string, command []TypedFlag) {
	g.typed, g.resumed = connection, command
}

// ShellLine returns a complete command line; the arguments of a program in a pod follow its flags.
func (w Where) ShellLine(line, program []string) string {
	line = slices.Clone(line)
	if w.Namespace != "" {
		line = append(line, "-n", w.Namespace)
	}
	if w.Context != "" {
		line = append(line, "--context", w.Context)
	}
	line = append(append(line, w.Flags...), program...)
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

// Located adds context and API server to an error that another context, or other credentials, may resolve.
func (e Connection) Located(err error) error {
	var hints []string
	switch {
	case apierrors.IsUnauthorized(err):
		err = &exit.LoggedOutError{Where: e.where(), Err: err}
		hints = []string{live.LogInAgain, "list other contexts: " + kubectlConfig(e.Env, "get-contexts")}
	case errors.Is(err, exit.ErrMissingKind):
		err = fmt.Errorf("%s: %w", e.where(), err)
		hints = []string{
			"list other contexts: " + kubectlConfig(e.Env, "get-contexts"),
			"if this is the right cluster, install the custom resource definitions: " + e.Command("install", "crds", "--dry-run"),
		}
	default:
		return err
	}
	located := &exit.Error{Code: exit.Code(err), Err: err, Hints: hints}
	if known, is := errors.AsType[*exit.Error](err); is {
		located.Printed, located.Differences = known.Printed, known.Differences
	}
	return located
}

// where names the API server, and the context that leads to it.
func (e Connection) where() string {
	server := "the API server"
	if config, err := e.Config(); err == nil && config.Host != "" {
		server += " " + config.Host
	}
	name := e.ContextName()
	if name == "" {
		return server
	}
	return "context " + name + ", " + server
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
