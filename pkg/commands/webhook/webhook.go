// Package webhook is the command that runs the eviction webhook.
package webhook

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/evictionhook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/metrics"
)

// options are the flags of the command.
type options struct {
	env *session.Env

	listenAddr, metricsAddr   string
	certFile, keyFile, caFile string
	act, yes, coexist         bool
}

// New returns the command.
func New(env *session.Env) *cobra.Command {
	o := options{env: env}
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Automation, Pages: []string{"eviction-webhook.md#the-webhook"}, Endless: true,
		Lacks: declare.Lacking("no command line belongs to a change: --act carries out replacements with the gates, the Lease and the audit of replace",
			declare.DryRuns, declare.Plans, declare.Reasons, declare.FieldManagers, declare.Overrides, declare.OneOperation),
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(session.WebhookPermissions()...), cmdutil.Viewing())
		},
		With: map[string]func() []declare.Requirement{
			"--act": func() []declare.Requirement {
				return slices.Concat(cmdutil.Required(session.WebhookPermissions()...), cmdutil.Reconciling())
			},
		},
	}, &cobra.Command{
		Use:   "eviction-webhook",
		Short: "Run the admission webhook for pod evictions",
		Long: `Run the admission webhook for pod evictions: the API server calls it before each eviction,
and it allows or denies it by the eviction rules of drain, so that kubectl drain,
autoscalers and upgrades of nodes follow them. A denied eviction has the status 429 and the
reason; kubectl drain tries it again every 5 s.

Without --act nothing is changed but a Lease per cluster, by which replicas decide about one
eviction at a time. With --act a process group that must not be evicted is replaced, or the
coordinators move away from it, by the same stages as "replace". A pod that may leave once
other pods are back is not replaced: these are recreated.

It runs until a signal, in a Deployment; manifests/eviction-webhook has all it needs, and
docs/eviction-webhook.md the steps.`,
		Example: `  # Serve with the certificate that cert-manager keeps in a Secret
  kubectl fdb eviction-webhook --tls-cert-file=/certificate/tls.crt --tls-private-key-file=/certificate/tls.key

  # Also replace process groups that must not be evicted
  kubectl fdb eviction-webhook --tls-cert-file=/certificate/tls.crt --tls-private-key-file=/certificate/tls.key --client-ca-file=/clients/ca.crt --act --yes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	})
	flags := cmd.Flags()
	flags.StringVar(&o.listenAddr, "listen-addr", ":8443", "address (HOST:PORT) of the webhook; port 0 selects a free port")
	flags.StringVar(&o.metricsAddr, "metrics-addr", "", "address (HOST:PORT) of /metrics, /healthz and /readyz; port 0 selects a free port")
	flags.StringVar(&o.certFile, "tls-cert-file", "", "file with the certificate in PEM, read again when it changes")
	flags.StringVar(&o.keyFile, "tls-private-key-file", "", "file with the key of the certificate in PEM")
	flags.StringVar(&o.caFile, "client-ca-file", "", "file with the CA certificates, in PEM, of allowed clients; empty allows any client to ask, and --act requires it")
	flags.BoolVar(&o.act, "act", false, "If true, replace process groups that must not be evicted, or move coordinators away from them")
	flags.BoolVarP(&o.yes, "yes", "y", false, "If true, approve what --act changes")
	flags.BoolVar(&o.coexist, "coexist", false, "If true, act although an operator manages the cluster")
	return cmd
}

func (o options) check() error {
	switch {
	case o.certFile == "" || o.keyFile == "":
		return exit.Usagef("--tls-cert-file and --tls-private-key-file are required: the API server calls webhooks with TLS only")
	case o.act && !o.yes:
		return &exit.Error{Code: exit.ExitUnconfirmed, Err: errors.New("--act requires --yes: there is no prompt while the webhook runs (nothing was changed)")}
	case o.act && o.caFile == "":
		return exit.Usage(errors.New("--act requires --client-ca-file: without it any client that reaches the webhook could have process groups replaced, under any name"), "docs/eviction-webhook.md has the client certificate of the API server")
	case o.yes && !o.act:
		return exit.Usagef("--yes requires --act")
	case o.coexist && !o.act:
		return exit.Usagef("--coexist requires --act")
	case o.listenAddr == "":
		return exit.Usagef("--listen-addr must not be empty")
	}
	if err := session.CheckAddress("--listen-addr", o.listenAddr); err != nil {
		return err
	}
	return session.CheckAddress("--metrics-addr", o.metricsAddr)
}

func (o options) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	certificates, err := evictionhook.LoadCertificates(o.certFile, o.keyFile, o.env.Clock)
	if err != nil {
		return exit.Usage(err)
	}
	authorities, err := o.authorities()
	if err != nil {
		return exit.Usage(err)
	}
	c, err := o.env.Client()
	if err != nil {
		return err
	}
	counts := metrics.NewEvictions(outcomeNames(), certificates.Expiry)
	server := &evictionhook.Server{Hook: o.hook(ctx, c, counts), Certificates: certificates, ClientCAs: authorities, Probe: probeOf(c), Clock: o.env.Clock}
	return o.serve(ctx, server, counts)
}

func (o options) authorities() (*x509.CertPool, error) {
	if o.caFile == "" {
		return nil, nil // any client may ask
	}
	text, err := limit.File(o.caFile, limit.Small)
	if err != nil {
		return nil, fmt.Errorf("read --client-ca-file: %w", err)
	}
	return evictionhook.ClientAuthorities(text)
}

func (o options) hook(ctx context.Context, c client.Client, counts *metrics.Evictions) *evictionhook.Hook {
	h := &evictionhook.Hook{
		Client: c, Clock: o.env.Clock, Identity: cmp.Or(o.env.Getenv("POD_NAME"), o.env.Holder) + " " + rand.Text()[:8],
		Self: evictionhook.Self{Namespace: o.env.Getenv("NAMESPACE"), Labels: evictionhook.OwnLabels()},
		Decider: &evictionhook.Rules{Clock: o.env.Clock, Observer: func(cluster types.NamespacedName) (reconcile.Observer, error) {
			return o.env.Connect(context.WithoutCancel(ctx), cluster)
		}},
		Report: func(a evictionhook.Answer) { report(o.env, a, counts) },
	}
	if o.act {
		h.Actor = evictionhook.NewActs(&actor{env: o.env, coexist: o.coexist}, o.env.Clock, func(e evictionhook.Eviction, err error) {
			counts.Acted(err)
			if err != nil {
				o.env.Logf("handle the eviction of pod %s of %s: %v", plainName(e.Pod), e.Cluster, err)
			}
		})
	}
	return h
}

func outcomeNames() []string {
	var names []string
	for _, o := range evictionhook.Outcomes() {
		names = append(names, string(o))
	}
	return names
}

// report counts and logs an answer.
func report(env *session.Env, a evictionhook.Answer, counts *metrics.Evictions) {
	counts.Answered(string(a.Outcome), a.Took)
	for _, c := range a.Refused {
		counts.Refused(a.Eviction.Cluster.Namespace, a.Eviction.Cluster.Name, string(c.ID))
	}
	if a.Outcome == evictionhook.NotApplicable && env.Global.Verbose < 1 {
		return
	}
	words := []string{string(a.Outcome)}
	if a.Eviction.Pod != "" {
		words = append(words, fmt.Sprintf("eviction of pod %s/%s requested by %s", plainName(a.Eviction.Cluster.Namespace), plainName(a.Eviction.Pod), cmp.Or(plainName(a.Eviction.User), "an unnamed user")))
	}
	if a.Message != "" {
		words = append(words, a.Message)
	}
	env.Logf("%s", strings.Join(words, ": "))
}

// plainName returns a name of a request as it is if it is a plain one, and quoted otherwise: requests are not
// trusted, and a line break would forge a line.
func plainName(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

// probeOf returns a function that reports whether the API server answers.
func probeOf(c client.Client) func(context.Context) error {
	return func(ctx context.Context) error {
		err := c.List(ctx, &v1beta2.FoundationDBClusterList{}, client.InNamespace("default"), client.Limit(1))
		if err == nil || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			return nil // it answers; what it allows is known per namespace
		}
		return fmt.Errorf("the API server does not answer: %w", err)
	}
}

// serve answers until a signal, which is the regular end.
func (o options) serve(ctx context.Context, server *evictionhook.Server, counts *metrics.Evictions) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.listenAddr)
	if err != nil {
		return exit.Usage(fmt.Errorf("listen for the API server: %w", err), "set another address with --listen-addr")
	}
	if o.metricsAddr != "" {
		address, stop, err := metrics.Serve(ctx, o.metricsAddr, counts.Handler(server.Ready))
		if err != nil {
			_ = listener.Close()
			return exit.Usage(err, "set another address with --metrics-addr")
		}
		defer stop()
		o.env.Logf("metrics at http://%s/metrics", address)
	}
	o.env.Logf("serving at https://%s%s", listener.Addr(), evictionhook.Path)
	return server.Serve(ctx, listener)
}
