package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"

	"k8s.io/client-go/rest"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/faults"
)

// AdminConfig is the administrator's way in through a port of this machine.
func (c *ControlPlane) AdminConfig(port int) *rest.Config {
	config := rest.CopyConfig(c.Config)
	config.Host = "https://127.0.0.1:" + strconv.Itoa(port)
	return config
}

// ProxyCredentials are for a proxy in front of the API server.
func (c *ControlPlane) ProxyCredentials() (faults.Credentials, error) {
	pool, err := c.pki.pool()
	if err != nil {
		return faults.Credentials{}, err
	}
	server, err := tls.LoadX509KeyPair(c.pki.Path("apiserver.crt"), c.pki.Path("apiserver.key"))
	if err != nil {
		return faults.Credentials{}, fmt.Errorf("load the API's certificate: %w", err)
	}
	front, err := tls.LoadX509KeyPair(c.pki.Path("front-proxy.crt"), c.pki.Path("front-proxy.key"))
	if err != nil {
		return faults.Credentials{}, fmt.Errorf("load the proxy's certificate: %w", err)
	}
	target, err := url.Parse(c.Config.Host)
	if err != nil {
		return faults.Credentials{}, fmt.Errorf("read the API server's address: %w", err)
	}
	return faults.Credentials{
		Server:  &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven, MinVersion: tls.VersionTLS12},
		Backend: &tls.Config{Certificates: []tls.Certificate{front}, RootCAs: pool, MinVersion: tls.VersionTLS13},
		Target:  target,
	}, nil
}

func (p PKI) pool() (*x509.CertPool, error) {
	ca, err := os.ReadFile(p.Path("ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("load the root certificate: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("the root certificate is unreadable")
	}
	return pool, nil
}

// NodeTLS is for ports that only the API server may call.
func (p PKI) NodeTLS() (*tls.Config, error) {
	pool, err := p.pool()
	if err != nil {
		return nil, err
	}
	cert, err := tls.LoadX509KeyPair(p.Path("kubelet.crt"), p.Path("kubelet.key"))
	if err != nil {
		return nil, fmt.Errorf("load the nodes' certificate: %w", err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{cert}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}, // exec upgrades its connection, which HTTP/2 cannot
	}, nil
}
