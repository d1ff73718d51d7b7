package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the ways to log in that kubeconfigs name
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/direct"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live/follow"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live/holder"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/servertime"
)

// unlimited turns off client-go's limit of requests per second. Commands bound their
// concurrency themselves, and the API server throttles clients that send too many requests.
const unlimited = -1

// BeginRun gives the changes of an environment an ID of their own. A program that carries out several commands, as keys of the
// dashboard request them, begins a run with each: those with the same ID would be one in history.
func BeginRun(e *Env) { e.RunID = strings.ToLower(rand.Text()[:10]) }

// NewEnv returns the environment of the real program.
func NewEnv() *Env {
	now := servertime.New(clock.RealClock{})
	e := &Env{
		IOStreams:  genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr},
		Kube:       genericclioptions.NewConfigFlags(true),
		Clock:      now,
		ServerTime: now,
		Getenv:     os.Getenv,
		IsTerminal: printers.IsTerminal,
		Columns:    columnsOf,
		Random:     randomNumber,
		Holder:     holder.New(),
	}
	BeginRun(e)
	openByFlags(e)
	return e
}

// openByFlags makes an environment open what its own flags select.
func openByFlags(e *Env) {
	e.byFlags = true
	e.Kube.WithWrapConfigFn(e.Connection().limits)
	e.Client = e.Connection().openClient
	e.Connect = e.Connection().openCluster
	e.ConnectBackup = e.Connection().openBackup
	e.ConnectRestore = e.Connection().openRestore
	e.Follow = e.Connection().openFollower
	e.Tool = e.Connection().openTool
	e.Logs = e.Connection().openLogs
	e.Elsewhere = e.Connection().openElsewhere
}

// Inside returns an environment for a whole command line that runs within another command: with flags
// and streams of its own, and the same clock, user and run. Prompts are possible where stdin is the
// terminal of e.
func Inside(e *Env, streams genericiooptions.IOStreams) *Env {
	other := &Env{
		IOStreams: streams, Kube: genericclioptions.NewConfigFlags(true), Clock: e.Clock, ServerTime: e.ServerTime, Getenv: e.Getenv, Random: e.Random, Holder: e.Holder, RunID: e.RunID,
		IsTerminal: func(stream any) bool { return stream == any(e.In) && e.IsTerminal(e.In) }, within: e,
		Client: e.Client, Connect: e.Connect, ConnectBackup: e.ConnectBackup, ConnectRestore: e.ConnectRestore, Follow: e.Follow, Elsewhere: e.Elsewhere, Tool: e.Tool, Logs: e.Logs,
	}
	*other.Kube.KubeConfig = text(e.Kube.KubeConfig)
	if e.byFlags {
		openByFlags(other)
	}
	return other
}

func (e Connection) limits(c *rest.Config) *rest.Config {
	c.QPS = unlimited
	c.UserAgent = "kubectl-fdb/" + Version
	if c.Timeout == 0 {
		c.Timeout = exit.RequestTimeout
	}
	if e.ServerTime != nil {
		c.Wrap(e.ServerTime.Wrap)
	}
	return c
}

func randomNumber() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// Config returns the client configuration. It fails without a kubeconfig: client-go would then
// connect to localhost.
func (e Connection) Config() (*rest.Config, error) {
	if e.dumped != nil {
		return e.limits(e.dumped.config()), nil
	}
	loader := e.Kube.ToRawKubeConfigLoader()
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read the kubeconfig: %w", err), "check --kubeconfig and the environment variable KUBECONFIG")
	}
	if err := e.contextExists(raw.Contexts); err != nil {
		return nil, err
	}
	if e.nowhere(raw.CurrentContext) && e.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		if len(raw.Contexts) == 0 {
			return nil, exit.Usage(errors.New("no kubeconfig found"),
				"set --kubeconfig FILE or the environment variable KUBECONFIG")
		}
		return nil, exit.Usage(errors.New("the kubeconfig has no current context"), "list contexts with kubectl config get-contexts, then select one with kubectl config use-context NAME or --context NAME")
	}
	config, err := e.Kube.ToRESTConfig()
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read the kubeconfig: %w", err), kubectlConfig(e.Env, "get-contexts"))
	}
	return config, nil
}

// contextExists fails if --context names none of the contexts.
func (e Connection) contextExists(contexts map[string]*api.Context) error {
	name := text(e.Kube.Context)
	if name == "" || contexts[name] != nil {
		return nil
	}
	known := slices.Sorted(maps.Keys(contexts))
	if len(known) == 0 {
		return exit.Usagef("context %q not found: the kubeconfig has no contexts", name)
	}
	return exit.Usage(fmt.Errorf("context %q not found: must be one of %s%s", name, strings.Join(known, ", "), OrMeant(name, known)), kubectlConfig(e.Env, "get-contexts"))
}

// nowhere reports whether neither the kubeconfig nor a flag names an API server.
func (e Connection) nowhere(currentContext string) bool {
	return currentContext == "" && text(e.Kube.Context) == "" && text(e.Kube.APIServer) == "" && text(e.Kube.ClusterName) == ""
}

func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// ContextName returns the kubeconfig context in use; empty if there is none.
func (e Connection) ContextName() string {
	if e.dumped != nil {
		return e.dumped.manifest().Context
	}
	if name := text(e.Kube.Context); name != "" {
		return name
	}
	raw, err := e.Kube.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return ""
	}
	return raw.CurrentContext
}

// Namespace returns the namespace of the flag, else that of the context.
func (e Connection) Namespace() (string, error) {
	if e.namespace != "" {
		return e.namespace, nil
	}
	if e.dumped != nil {
		return cmp.Or(text(e.Kube.Namespace), e.dumped.manifest().Namespace), nil
	}
	loader := e.Kube.ToRawKubeConfigLoader()
	if raw, err := loader.RawConfig(); err == nil {
		if err := e.contextExists(raw.Contexts); err != nil {
			return "", err
		}
	}
	namespace, _, err := loader.Namespace()
	if err != nil && !clientcmd.IsEmptyConfig(err) {
		return "", exit.Usage(fmt.Errorf("read the kubeconfig: %w", err))
	}
	return namespace, nil
}

// NamespaceUnless returns that namespace, or "" for all of them.
func (e Connection) NamespaceUnless(all bool) (string, error) {
	if all {
		return "", nil
	}
	return e.Namespace()
}

// openClient opens an uncached client: every read is current and includes our own writes.
func (e Connection) openClient() (client.Client, error) {
	config, err := e.Config()
	if err != nil {
		return nil, err
	}
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme, Mapper: NewMapper()})
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("create the Kubernetes client: %w", err))
	}
	if e.dumped == nil { // what a dump does not have, it does not have a second later either
		c = retryingReads{c, e.Clock}
	}
	return client.WithFieldOwner(c, cmp.Or(e.Run.FieldManager, live.FieldManager)), nil
}

func (e Connection) openCluster(_ context.Context, key types.NamespacedName) (Session, error) {
	o, err := e.clusterOptions(key)
	if err != nil {
		return nil, err
	}
	return live.New(o), nil
}

func (e Connection) openBackup(key types.NamespacedName) (Session, error) {
	o, err := e.clusterOptions(key)
	if err != nil {
		return nil, err
	}
	return live.NewBackup(o), nil
}

func (e Connection) openRestore(key types.NamespacedName) (Session, error) {
	o, err := e.clusterOptions(types.NamespacedName{Namespace: key.Namespace})
	if err != nil {
		return nil, err
	}
	return live.NewRestore(key, o), nil
}

// clusterOptions returns the access of a session to the API server and the database.
func (e Connection) clusterOptions(key types.NamespacedName) (live.Options, error) {
	config, err := e.Config()
	if err != nil {
		return live.Options{}, err
	}
	reached, err := e.Client()
	if err != nil {
		return live.Options{}, err
	}
	native, err := e.openDirect()
	options := live.Options{
		Client: reached, Config: streaming(config), Key: key, Clock: e.Clock, Nonce: rand.Text,
		Holder: LeaseHolder(e.Env), Plan: e.PlanDigest(), Overrides: e.Run.Overrides, Direct: native,
		Command: func(words ...string) string { return e.KubectlIn(key.Namespace, words...) },
		Report:  func(words string) { e.Logf("%s", words) },
	}
	if e.ServerTime != nil {
		options.ClockDifference = e.ServerTime.Difference
	}
	if e.dumped != nil {
		options.Transport, options.Sidecars = e.dumped.transport, e.dumped.sidecars
		if e.dumped.live != nil {
			options.Config = streaming(e.dumped.live)
		}
	}
	return options, err
}

// openDirect returns the native transport that the flags ask for; nil for fdbcli alone.
func (e Connection) openDirect() (*direct.Database, error) {
	d, err := direct.New(e.DirectOptions())
	if err != nil {
		return nil, exit.Usage(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.direct = append(e.direct, d)
	return d, nil
}

// DirectOptions returns what the flags ask of the native transport.
func (e Connection) DirectOptions() direct.Options {
	return direct.Options{
		Transport: direct.Transport(e.Global.Transport), ClusterFile: e.Global.ClusterFile,
		InCluster: e.Getenv("KUBERNETES_SERVICE_HOST") != "",
		GivenUp: func(cause error) {
			e.Logf("warning: the native transport cannot be used: %v; fdbcli in pods is used instead", cause)
		},
	}
}

// CloseDirect removes the cluster files that the native transport wrote.
func (e Connection) CloseDirect() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range e.direct {
		_ = d.Close() // what remains are temporary files without secrets
	}
	for _, other := range e.places {
		other.Connection().CloseDirect()
	}
	e.direct, e.places = nil, nil
}

func (e Connection) openFollower(key types.NamespacedName, facets plan.Facet, changed func(plan.Facet), problem func(plan.Facet, error)) (Follower, error) {
	config, err := e.Config()
	if err != nil {
		return nil, err
	}
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(streaming(config), client.Options{Scheme: scheme, Mapper: NewMapper()})
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("create the watch client: %w", err))
	}
	return &follow.Follower{Client: c, Key: key, Facets: facets, Changed: changed, Problem: problem}, nil
}

func (e Connection) openTool(pod *corev1.Pod, container string) (admin.Transport, error) {
	config, err := e.Config()
	if err != nil {
		return nil, err
	}
	return admin.NewPodExec(streaming(config), pod.Namespace, pod.Name, container)
}

func (e Connection) openLogs(ctx context.Context, namespace, pod string, o *corev1.PodLogOptions) (io.ReadCloser, error) {
	config, err := e.Config()
	if err != nil {
		return nil, err
	}
	c, err := corev1client.NewForConfig(streaming(config))
	if err != nil {
		return nil, fmt.Errorf("create a client for logs: %w", err)
	}
	return c.Pods(namespace).GetLogs(pod, o).Stream(ctx)
}

// streaming is for connections into pods and for watches: they have no request timeout, but
// limits of their own.
func streaming(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Timeout = 0
	return config
}

// NamesOf returns the rows for -o name: KIND/NAME.
func NamesOf[T any](kind string, items []T, name func(T) string) []string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = kind + "/" + name(item)
	}
	return names
}

// ParallelReads bounds how many clusters are read concurrently.
const ParallelReads = 8

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
