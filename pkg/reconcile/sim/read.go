package sim

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ReadExclusions reads which exclusions are in force and which processes still hold data or roles.
func (w *Cluster) ReadExclusions(ctx context.Context) (plan.CoordinationFacts, error) {
	facts := plan.CoordinationFacts{}
	var err error
	if facts.InProgressExclusions, err = w.listExclusions(ctx, client.InProgress); err != nil {
		return facts, err
	}
	if facts.FailedExclusions, err = w.listExclusions(ctx, client.FailedAddresses, client.FailedLocalities); err != nil {
		return facts, err
	}
	facts.Exclusions, err = w.listExclusions(ctx, client.ExcludedAddresses, client.ExcludedLocalities, client.FailedAddresses, client.FailedLocalities)
	facts.ExclusionsRead = err == nil
	return facts, err
}

// ReadShared reads all that control-plane instances share, whether or not the spec needs it.
func (w *Cluster) ReadShared(context.Context) (plan.CoordinationFacts, error) {
	lists := w.Shared.Lists.now
	lists.Read = true
	return plan.CoordinationFacts{
		Read: true, Lock: w.Shared.Lock, DenyList: w.Shared.denied(), Denials: w.Shared.Denials, Maintenance: w.Shared.Maintenance,
		Announced: w.announced(), Lists: lists,
	}, nil
}

// ReadClusterFiles reads the connection strings in the database and in all pods.
func (w *Cluster) ReadClusterFiles(ctx context.Context) (plan.ClusterFiles, error) {
	files := plan.ClusterFiles{Pods: map[string]plan.ClusterFile{}}
	for name, pod := range w.Pods {
		running := w.running[name]
		switch {
		case pod.Status.Phase != corev1.PodRunning || running == nil:
		case running.files[liveClusterFile] == nil:
			files.Pods[name] = plan.ClusterFile{Unreadable: "no such file"}
		default:
			files.Pods[name] = plan.ClusterFile{Content: string(running.files[liveClusterFile])}
		}
	}
	d := w.database(ctx)
	if d.Status == nil {
		files.LiveUnknown = d.Why()
		return files, nil
	}
	live, err := fdb.ParseConnectionString(d.Status.Cluster.ConnectionString)
	if err != nil {
		files.LiveUnknown = err.Error()
		return files, nil //nolint:nilerr // an unknown string is a fact
	}
	files.Live = live
	return files, nil
}

// WriteClusterFile gives a pod's processes another cluster file, as a user could.
func (w *Cluster) WriteClusterFile(pod, content string) {
	w.running[pod].files[liveClusterFile] = []byte(content)
}

const (
	// lookupsPerName is how often ReadNames resolves each name.
	lookupsPerName = 10
	lookupTime     = time.Millisecond
)

// ReadNames resolves names as processes do: at once, and to nothing where a pod has no address.
func (w *Cluster) ReadNames(_ context.Context, names []string) (fdb.NameLookups, error) {
	if len(w.running) == 0 {
		return fdb.NameLookups{}, errors.New("resolve names: no running pod can run fdbcli")
	}
	lookups := fdb.NameLookups{Overhead: lookupTime}
	for _, name := range names {
		n := fdb.NameLookup{Name: name, Lookups: lookupsPerName, Slowest: lookupTime}
		if addresses, err := w.site.resolve(name); err != nil {
			n.Failed = lookupsPerName
		} else {
			n.Found(addresses)
		}
		lookups.Names = append(lookups.Names, n)
	}
	return lookups, nil
}

// ReadServed connects to no process: those of the model have no certificates.
func (w *Cluster) ReadServed(_ context.Context, addresses []fdb.Address) ([]fdb.ServedCertificate, error) {
	if len(w.running) == 0 {
		return nil, errors.New("read served certificates: no running pod can run fdbcli")
	}
	all := make([]fdb.ServedCertificate, len(addresses))
	for i, address := range addresses {
		all[i] = fdb.ServedCertificate{Address: address, Unread: "no response to a TLS handshake"}
	}
	return all, nil
}
