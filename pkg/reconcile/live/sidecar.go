package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream" //nolint:staticcheck // client-go takes and returns its types
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	streaming "k8s.io/streaming/pkg/httpstream"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// sidecarPort is where a split pod's sidecar listens.
const sidecarPort = 8080

// How long a sidecar may take to answer. Defaults 5 s and 10 s; source: the
// operator's flags get-timeout and post-timeout.
const (
	sidecarReadLimit  = 5 * time.Second
	sidecarWriteLimit = 10 * time.Second
)

// sidecar is a connection to a split pod's sidecar through the API server: the pod's own
// address is not reachable from everywhere.
type sidecar struct {
	pod  string
	base string
	stop chan struct{}
}

func (s *sidecar) close() { close(s.stop) }

func (f *podFiles) openSidecar(ctx context.Context, pod *corev1.Pod) (*sidecar, error) {
	if needsClientCertificate(pod) {
		return nil, errors.New("the sidecar requires a client certificate, which only the cluster's own clients have")
	}
	dialer, err := f.portForwardDialer(pod)
	if err != nil {
		return nil, err
	}
	stop, ready := make(chan struct{}), make(chan struct{})
	forwarder, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", sidecarPort)}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		return nil, fmt.Errorf("forward a port to %s: %w", pod.Name, err)
	}
	failed := make(chan error, 1)
	go func() { failed <- forwarder.ForwardPorts() }()
	ctx, cancel := context.WithTimeout(ctx, sidecarReadLimit)
	defer cancel()
	select {
	case <-ready:
	case err := <-failed:
		return nil, fmt.Errorf("forward a port to %s: %w", pod.Name, err)
	case <-ctx.Done():
		close(stop)
		return nil, fmt.Errorf("forward a port to %s: %w", pod.Name, ctx.Err())
	}
	ports, err := forwarder.GetPorts()
	if err != nil || len(ports) == 0 {
		close(stop)
		return nil, fmt.Errorf("forward a port to %s: no local port", pod.Name)
	}
	return &sidecar{pod: pod.Name, base: fmt.Sprintf("http://127.0.0.1:%d", ports[0].Local), stop: stop}, nil
}

func needsClientCertificate(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == v1beta2.ContainerSidecar && slices.Contains(c.Args, "--tls")
	})
}

// portForwardDialer uses WebSocket, and SPDY if the API server or a proxy does not support that.
func (f *podFiles) portForwardDialer(pod *corev1.Pod) (httpstream.Dialer, error) {
	client, err := corev1client.NewForConfig(f.Config)
	if err != nil {
		return nil, fmt.Errorf("create a client to forward a port: %w", err)
	}
	target := client.RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(f.Config)
	if err != nil {
		return nil, fmt.Errorf("create a connection to forward a port: %w", err)
	}
	spdyDialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, target)
	webSocketDialer, err := portforward.NewSPDYOverWebsocketDialer(target, f.Config)
	if err != nil {
		return nil, fmt.Errorf("create a connection to forward a port: %w", err)
	}
	return portforward.NewFallbackDialer(webSocketDialer, spdyDialer, func(err error) bool {
		return streaming.IsUpgradeFailure(err) || streaming.IsHTTPSProxyError(err)
	}), nil
}

func (s *sidecar) substitutions(ctx context.Context) (map[string]string, error) {
	body, _, err := s.ask(ctx, http.MethodGet, "/substitutions", sidecarReadLimit)
	if err != nil {
		return nil, err
	}
	var variables map[string]string
	if err := json.Unmarshal([]byte(body), &variables); err != nil {
		return nil, fmt.Errorf("read the variables of %s: %w", s.pod, err)
	}
	return variables, nil
}

func (s *sidecar) checkHash(ctx context.Context, file string) (hash string, found bool, err error) {
	body, found, err := s.ask(ctx, http.MethodGet, "/check_hash/"+file, sidecarReadLimit)
	return strings.TrimSpace(body), found, err
}

func (s *sidecar) isPresent(ctx context.Context, file string) (bool, error) {
	_, found, err := s.ask(ctx, http.MethodGet, "/is_present/"+file, sidecarReadLimit)
	return found, err
}

// copyFile requests the sidecar to copy a file from the mounted ConfigMap, or a binary from
// its own image; the monitor configuration goes through its substitutions.
func (s *sidecar) copyFile(ctx context.Context, file string) error {
	call := "/copy_files"
	switch {
	case file == "fdbmonitor.conf":
		call = "/copy_monitor_conf"
	case strings.HasPrefix(file, "bin/"):
		call = "/copy_binaries"
	}
	_, found, err := s.ask(ctx, http.MethodPost, call, sidecarWriteLimit)
	if err == nil && !found {
		err = fmt.Errorf("the sidecar of %s does not support %s", s.pod, call)
	}
	return err
}

// ask makes one request on a connection of its own: some versions send a second response after
// the first, which would be taken for that of the next request.
func (s *sidecar) ask(ctx context.Context, method, call string, limit time.Duration) (body string, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.base+call, nil)
	if err != nil {
		return "", false, fmt.Errorf("request %[2]s from the sidecar of %[1]s: %[3]w", s.pod, call, err)
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", false, fmt.Errorf("request %[2]s from the sidecar of %[1]s: %[3]w", s.pod, call, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return "", false, fmt.Errorf("read the response of the sidecar of %s: %w", s.pod, err)
	}
	switch response.StatusCode {
	case http.StatusOK:
		return string(text), true, nil
	case http.StatusNotFound:
		return "", false, nil
	default:
		return "", false, fmt.Errorf("the sidecar of %s returned %s to %s: %s", s.pod, response.Status, call, strings.TrimSpace(string(text)))
	}
}

// parallelPods bounds how many sidecars are queried at once.
const parallelPods = 8

// podFiles reads and writes the files that pods get from the cluster's ConfigMap.
type podFiles struct {
	*Options
	known *known
}

// readPodFiles reads which files each pod uses. A unified pod reports that in its annotations,
// which were read already. A split pod's sidecar must be queried, and only where its answer
// matters: see splitReport.
func (f *podFiles) readPodFiles(ctx context.Context, s *plan.Snapshot) (map[string]plan.PodReport, error) {
	reports := map[string]plan.PodReport{}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelPods)
	for name, pod := range s.Pods {
		if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
			continue
		}
		if err := objects.ValidatePod(pod, v1beta2.ProcessClass(pod.Labels[s.Cluster.ProcessClassLabels()[0]])); err != nil {
			mu.Lock()
			reports[name] = plan.PodReport{Unreachable: err.Error()} // it is unknown what reports its files
			mu.Unlock()
			continue
		}
		if objects.ImageTypeOf(pod) == v1beta2.ImageTypeUnified {
			mu.Lock()
			reports[name] = unifiedReport(pod)
			mu.Unlock()
			continue
		}
		group.Go(guarded(func() error {
			report := f.splitReport(ctx, s.Cluster, pod)
			mu.Lock()
			defer mu.Unlock()
			reports[name] = report
			return Interrupted(ctx)
		}))
	}
	return reports, group.Wait()
}

// unifiedReport reads the annotations that the monitor writes once it has accepted a
// configuration.
func unifiedReport(pod *corev1.Pod) plan.PodReport {
	variables, err := objects.Variables(pod)
	if err != nil {
		return plan.PodReport{Unreachable: err.Error()}
	}
	return plan.PodReport{Variables: variables, Configuration: pod.Annotations[v1beta2.AnnotationCurrentConfiguration]}
}

// splitFiles are the files whose state decides whether a split pod is up to date.
var splitFiles = []string{"fdb.cluster", "fdbmonitor.conf"}

// splitReport queries a sidecar about its files while the pod has not confirmed the current
// configuration. For a pod that has, its own spec has the values that it substitutes, so a
// pass with nothing to do queries no sidecar. During an upgrade to another protocol every
// sidecar is queried: a restart must not find a binary missing.
func (f *podFiles) splitReport(ctx context.Context, c *v1beta2.FoundationDBCluster, pod *corev1.Pod) plan.PodReport {
	upgrade := c.IsBeingUpgradedIncompatibly()
	if !upgrade && upToDate(c, pod) {
		return plan.PodReport{Variables: objects.SidecarVariables(pod)}
	}
	var binaries []string
	if upgrade {
		binaries = []string{objects.CopiedServer(c.Spec.Version)}
	}
	query := f.querySidecar
	if f.Sidecars != nil {
		query = f.Sidecars(query)
	}
	report, err := query(ctx, pod, binaries)
	if err != nil {
		return plan.PodReport{Unreachable: err.Error()}
	}
	return report
}

// SidecarQuery reads what the sidecar of a split pod reports of its files, and of these binaries.
type SidecarQuery = func(ctx context.Context, pod *corev1.Pod, binaries []string) (plan.PodReport, error)

func upToDate(c *v1beta2.FoundationDBCluster, pod *corev1.Pod) bool {
	class := v1beta2.ProcessClass(pod.Labels[c.ProcessClassLabels()[0]])
	launch, err := objects.LaunchOf(pod, class)
	if err != nil {
		return false
	}
	want, err := objects.ConfigMapHash(c, launch)
	return err == nil && pod.Annotations[v1beta2.AnnotationLastAppliedConfigMap] == want
}

func (f *podFiles) querySidecar(ctx context.Context, pod *corev1.Pod, binaries []string) (plan.PodReport, error) {
	sidecar, err := f.openSidecar(ctx, pod)
	if err != nil {
		return plan.PodReport{}, err
	}
	defer sidecar.close()
	report := plan.PodReport{Hashes: map[string]string{}}
	if report.Variables, err = sidecar.substitutions(ctx); err != nil {
		return plan.PodReport{}, err
	}
	for _, file := range splitFiles {
		hash, found, err := sidecar.checkHash(ctx, file)
		if err != nil {
			return plan.PodReport{}, err
		}
		if found {
			report.Hashes[file] = hash
		}
	}
	for _, binary := range binaries {
		present, err := sidecar.isPresent(ctx, binary)
		if err != nil {
			return plan.PodReport{}, err
		}
		report.Present = map[string]bool{binary: present}
	}
	return report, nil
}

// syncPodFiles requests a sidecar to copy files from its mounted ConfigMap. Whether that
// ConfigMap was current shows when the files are read again.
func (f *podFiles) syncPodFiles(ctx context.Context, a plan.SyncPodFiles) error {
	_, pods := f.known.toReach()
	pod := pods[a.Pod]
	if pod == nil {
		return fmt.Errorf("pod %s was not read", a.Pod)
	}
	sidecar, err := f.openSidecar(ctx, pod)
	if err != nil {
		return err
	}
	defer sidecar.close()
	for _, file := range a.Files {
		if err := sidecar.copyFile(ctx, file); err != nil {
			return err
		}
	}
	return nil
}
