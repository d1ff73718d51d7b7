// Package controlplane runs a Kubernetes control plane in this process: etcd,
// kube-apiserver, some of kube-controller-manager's controllers and
// kube-scheduler. It listens on the loopback interface and on unix sockets in
// a private directory, never elsewhere.
package controlplane

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
)

// Options are the options of a control plane.
type Options struct {
	PKI       PKI
	EtcdDir   string        // etcd's data
	SocketDir string        // etcd's socket; its path must be short
	ConfigDir string        // where the components' own kubeconfig is written
	NodeGrace time.Duration // time without a report after which a node is NotReady
	Log       io.Writer     // logs of the components
	Progress  func(format string, args ...any)
}

// ControlPlane is a running control plane.
type ControlPlane struct {
	Config *rest.Config         // administrator, straight to the API server
	Client kubernetes.Interface // made from Config

	pki    PKI
	api    *apiServer
	etcd   *embed.Etcd
	cancel context.CancelFunc
	failed <-chan error
}

// Start brings the control plane up and returns when it serves.
func Start(ctx context.Context, o Options) (_ *ControlPlane, err error) {
	if err := logTo(o.Log); err != nil {
		return nil, err
	}
	c := &ControlPlane{pki: o.PKI}
	ctx, c.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			c.Stop()
		}
	}()
	var endpoint string
	if c.etcd, endpoint, err = startEtcd(ctx, o.EtcdDir, o.SocketDir); err != nil {
		return nil, err
	}
	o.Progress("etcd is up")
	if c.api, err = startAPIServer(ctx, o.PKI, endpoint); err != nil {
		return nil, err
	}
	c.Config = c.api.restConfig(o.PKI)
	if err := c.api.waitReady(ctx, c.Config); err != nil {
		return nil, err
	}
	o.Progress("the API server is up")
	if c.Client, err = kubernetes.NewForConfig(c.Config); err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	return c, c.startRest(ctx, o)
}

func (c *ControlPlane) startRest(ctx context.Context, o Options) error {
	if err := startControllers(ctx, c.Config, o.PKI, o.NodeGrace); err != nil {
		return err
	}
	kubeconfig := o.ConfigDir + "/components.kubeconfig"
	if err := WriteKubeconfig(kubeconfig, c.Config); err != nil {
		return err
	}
	failed, err := startScheduler(ctx, kubeconfig)
	if err != nil {
		return err
	}
	c.failed = failed
	o.Progress("controllers and scheduler are up")
	return nil
}

// Failed receives when a component that must not end has ended.
func (c *ControlPlane) Failed() <-chan error {
	failed := make(chan error, 1)
	go func() {
		select {
		case err := <-c.api.done:
			c.api.done <- err // Stop waits for it as well
			failed <- fmt.Errorf("the API server ended: %w", orUnexpected(err))
		case err := <-c.failed:
			failed <- fmt.Errorf("the scheduler ended: %w", orUnexpected(err))
		}
	}()
	return failed
}

func orUnexpected(err error) error {
	if err == nil {
		return errors.New("it was not stopped")
	}
	return err
}

// apiStopLimit bounds the wait for the API server's end, which takes about 1 s.
const apiStopLimit = 15 * time.Second

// Stop ends every component. It can be called on a half-started control plane.
func (c *ControlPlane) Stop() {
	c.cancel()
	if c.api != nil {
		timer := time.NewTimer(apiStopLimit)
		defer timer.Stop()
		select {
		case <-c.api.done: //nolint:errcheck // how it ended is of no interest any more
		case <-timer.C:
		}
	}
	if c.etcd != nil {
		c.etcd.Close()
	}
}

// WriteKubeconfig writes a kubeconfig with the credentials of config.
func WriteKubeconfig(file string, config *rest.Config) error {
	k := clientcmdapi.NewConfig()
	k.Clusters["sandbox"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthority: config.CAFile}
	k.AuthInfos["sandbox"] = &clientcmdapi.AuthInfo{ClientCertificate: config.CertFile, ClientKey: config.KeyFile}
	k.Contexts["sandbox"] = &clientcmdapi.Context{Cluster: "sandbox", AuthInfo: "sandbox", Namespace: "default"}
	k.CurrentContext = "sandbox"
	if err := clientcmd.WriteToFile(*k, file); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}

// logTo sends what the components log to w instead of standard error.
func logTo(w io.Writer) error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL", "one_output": "true"} {
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("set up the components' log: %w", err)
		}
	}
	klog.SetOutput(w)
	return nil
}
