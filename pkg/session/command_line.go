package session

import (
	"slices"
	"strings"
)

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
