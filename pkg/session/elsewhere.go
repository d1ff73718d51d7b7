package session

import (
	"io"
	"slices"
	"strings"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/servertime"
)

// Place is another kubeconfig context that a command reads beside others.
type Place struct {
	// Name is what the user calls it.
	Name string
	// Context and Namespace are those of the kubeconfig; an empty namespace means that of -n, else that of the context.
	Context, Namespace string
}

// At returns an environment whose commands act at a place: with its API server, its time and its namespace. Lines of progress
// have its name. It has no stdin and prints nothing to stdout.
func At(e *Env, p Place) *Env {
	other := e.Elsewhere(p)
	other.In, other.Out, other.ErrOut = strings.NewReader(""), io.Discard, &named{of: e, name: p.Name}
	other.IsTerminal = func(any) bool { return false }
	other.Global = e.Global
	other.Site, other.Run.Started = p.Name, true
	return other
}

// ActAt has commands act at a place for the command of e: with its reason and overridden gates, and prompts on its terminal.
func ActAt(at, e *Env) {
	at.In, at.IsTerminal = e.In, func(stream any) bool { return stream == any(e.In) && e.IsTerminal(stream) }
	at.Run.Reason, at.Run.Overrides, at.Run.FieldManager = e.Run.Reason, e.Run.Overrides, e.Run.FieldManager
}

// CommandAcross returns a complete command line over several sites, whose flags name the contexts. It has the namespace only
// where the user typed one.
func CommandAcross(e *Env, words ...string) string {
	where := Where{Namespace: text(e.Kube.Namespace), Flags: e.Global.typed}
	return where.ShellLine(slices.Concat([]string{"kubectl", "fdb"}, words, TemplateRestrictions(e).Args()), nil)
}

// openElsewhere opens the API server of another context of the same kubeconfig.
func (e Connection) openElsewhere(p Place) *Env {
	now := servertime.New(clock.RealClock{})
	other := &Env{Kube: e.inContext(p), Clock: now, ServerTime: now, Getenv: e.Getenv, Columns: e.Columns, Random: e.Random, Holder: e.Holder, RunID: e.RunID}
	openByFlags(other)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.places = append(e.places, other)
	return other
}

// inContext returns the flags of the connection for another context. Those that name an API server or its credentials
// are left out: see OnePlace.
func (e Connection) inContext(p Place) *genericclioptions.ConfigFlags {
	kube := genericclioptions.NewConfigFlags(true)
	kube.KubeConfig, kube.CacheDir, kube.Timeout, kube.DisableCompression, kube.Insecure = e.Kube.KubeConfig, e.Kube.CacheDir, e.Kube.Timeout, e.Kube.DisableCompression, e.Kube.Insecure
	kube.Impersonate, kube.ImpersonateUID, kube.ImpersonateGroup, kube.ImpersonateUserExtra = e.Kube.Impersonate, e.Kube.ImpersonateUID, e.Kube.ImpersonateGroup, e.Kube.ImpersonateUserExtra
	*kube.Context, *kube.Namespace = p.Context, text(e.Kube.Namespace)
	if p.Namespace != "" {
		*kube.Namespace = p.Namespace
	}
	return kube
}

// OnePlace returns the flags with which a command line selects one API server, its credentials, or a dump.
func OnePlace(e *Env) (flags []string) {
	for _, f := range []struct {
		name  string
		value *string
	}{
		{"context", e.Kube.Context},
		{"cluster", e.Kube.ClusterName},
		{"server", e.Kube.APIServer},
		{"user", e.Kube.AuthInfoName},
		{"token", e.Kube.BearerToken},
		{"certificate-authority", e.Kube.CAFile},
		{"client-certificate", e.Kube.CertFile},
		{"client-key", e.Kube.KeyFile},
		{"tls-server-name", e.Kube.TLSServerName},
		{"from", &e.Global.From},
		{"cluster-file", &e.Global.ClusterFile},
	} {
		if text(f.value) != "" {
			flags = append(flags, "--"+f.name)
		}
	}
	return flags
}

// named prints lines with the name of a place, each whole.
type named struct {
	of   *Env
	name string
}

// Write implements io.Writer.
func (n *named) Write(text []byte) (int, error) {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	_, err := io.WriteString(n.of.ErrOut, n.name+": "+string(text))
	return len(text), err
}
