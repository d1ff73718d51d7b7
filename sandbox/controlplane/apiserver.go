package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// apiServer is a kube-apiserver in this process.
type apiServer struct {
	port int
	done chan error // receives once, when the server ended
}

// apiServerFlags are the settings of a server that only this machine reaches.
func apiServerFlags(pki PKI, etcd string, port int) []string {
	return []string{
		"--etcd-servers=" + etcd,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", // a loopback address is not valid in Endpoints
		"--cert-dir=" + pki.Path(""),
		"--tls-cert-file=" + pki.Path("apiserver.crt"),
		"--tls-private-key-file=" + pki.Path("apiserver.key"),
		"--client-ca-file=" + pki.Path("ca.crt"),
		"--requestheader-client-ca-file=" + pki.Path("front-proxy-ca.crt"),
		"--requestheader-allowed-names=" + frontProxyName,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--kubelet-certificate-authority=" + pki.Path("ca.crt"),
		"--kubelet-client-certificate=" + pki.Path("kubelet-client.crt"),
		"--kubelet-client-key=" + pki.Path("kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + pki.Path("sa.key"),
		"--service-account-key-file=" + pki.Path("sa.key"),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=RBAC",
		"--allow-privileged=true",
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight=0",
		"--max-mutating-requests-inflight=0",
		"--anonymous-auth=false",
		"--profiling=false",
		"--storage-media-type=application/vnd.kubernetes.protobuf",
	}
}

// startAPIServer runs kube-apiserver until ctx ends.
func startAPIServer(ctx context.Context, pki PKI, etcd string) (*apiServer, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the API server: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	o := options.NewServerRunOptions()
	o.SecureServing.Listener = listener // our own: port 0 without a race
	if err := parseFlags(o.Flags(), apiServerFlags(pki, etcd, port)); err != nil {
		return nil, fmt.Errorf("set the API server's flags: %w", err)
	}
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, fmt.Errorf("set the API server's feature gates: %w", err)
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	completed, err := o.Complete(ctx)
	if err != nil {
		return nil, fmt.Errorf("complete the API server's options: %w", err)
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return nil, fmt.Errorf("validate the API server's options: %w", utilerrors.NewAggregate(errs))
	}
	a := &apiServer{port: port, done: make(chan error, 1)}
	go func() { a.done <- app.Run(ctx, completed) }()
	return a, nil
}

func parseFlags(sets cliflag.NamedFlagSets, args []string) error {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, set := range sets.FlagSets {
		all.AddFlagSet(set)
	}
	return all.Parse(args)
}

func (a *apiServer) restConfig(pki PKI) *rest.Config {
	return &rest.Config{
		Host: "https://127.0.0.1:" + strconv.Itoa(a.port),
		QPS:  -1, // the default of 5 requests a second would throttle every controller
		TLSClientConfig: rest.TLSClientConfig{
			CAFile: pki.Path("ca.crt"), CertFile: pki.Path("admin.crt"), KeyFile: pki.Path("admin.key"),
		},
	}
}

// apiReadyLimit bounds the wait for the API server, which takes about 2 s on an idle machine.
const apiReadyLimit = 3 * time.Minute

// apiReadyPoll is the interval between readiness checks.
const apiReadyPoll = 20 * time.Millisecond

func (a *apiServer) waitReady(ctx context.Context, config *rest.Config) error {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("create a client for the API server: %w", err)
	}
	last := errors.New("no answer yet")
	err = wait.PollUntilContextTimeout(ctx, apiReadyPoll, apiReadyLimit, true, func(ctx context.Context) (bool, error) {
		select {
		case err := <-a.done:
			return false, fmt.Errorf("the API server ended: %w", err)
		default:
		}
		last = askReady(ctx, client, config.Host)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the API server: %w", errors.Join(err, last))
	}
	return nil
}

func askReady(ctx context.Context, client *http.Client, host string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, host+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}
