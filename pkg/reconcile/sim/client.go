package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
)

// commandTimeout bounds each program, as package live bounds its own.
const commandTimeout = 75 * time.Second

// Client is the program that reads and changes the database: it runs in a pod that has a cluster file, the first whose
// processes have the protocol of the client, as package live prefers pods of coordinators, or just the first.
func (w *Cluster) Client() (client.Program, error) {
	name, version := w.toolPod()
	if name == "" {
		return client.Program{}, errors.New("no pod has a cluster file")
	}
	variables := tlsEnvironment(w.Pods[name])
	return client.Program{
		Version: version, Host: w.Pods[name].Status.PodIP, Files: w.running[name], ClusterFile: liveClusterFile, Timeout: commandTimeout,
		TLS: client.TLSFiles{
			Certificate: variables[v1beta2.EnvTLSCertificateFile], Key: variables[v1beta2.EnvTLSKeyFile], Authorities: variables[v1beta2.EnvTLSCAFile],
		},
	}, nil
}

// connect runs the program.
func (w *Cluster) connect(ctx context.Context, do func(*client.Client) error) error {
	program, err := w.Client()
	if err != nil {
		return err
	}
	return w.FDB.Run(ctx, program, do)
}

// read has the program read something.
func (w *Cluster) read(ctx context.Context, do func(*client.Client) error) error {
	return w.connect(ctx, after(client.Reads, do))
}

// change has the program change something.
func (w *Cluster) change(ctx context.Context, do func(*client.Client) error) error {
	return w.connect(ctx, after(client.Changes, do))
}

// after applies the faults of commands with an effect before one.
func after(e client.Effect, do func(*client.Client) error) func(*client.Client) error {
	return func(c *client.Client) error {
		if err := c.Begin(e); err != nil {
			return err
		}
		return do(c)
	}
}

// listExclusions reads targets of exclusions.
func (w *Cluster) listExclusions(ctx context.Context, lists ...client.ExclusionList) (targets []string, err error) {
	err = w.connect(ctx, func(c *client.Client) error {
		targets, err = c.ListExclusions(lists...)
		return err
	})
	return targets, err
}

// toolPod is where the program runs, and which version of it; empty when no pod has a cluster file.
// As in package live, pods of groups that are marked for removal or do not report come last:
// they may have missed a change of coordinators.
func (w *Cluster) toolPod() (first, version string) {
	version = w.clientVersion()
	var last []string
	for _, g := range w.Resource.Status.ProcessGroups {
		unfit := g.IsMarkedForRemoval() || g.HasCondition(v1beta2.ConditionMissingProcesses)
		if name := g.PodName(w.Resource); unfit && w.Pods[name] != nil {
			last = append(last, name)
		}
	}
	others := slices.DeleteFunc(w.podNames(), func(name string) bool { return slices.Contains(last, name) })
	for _, name := range append(others, last...) {
		running := w.running[name]
		if running == nil || running.files[liveClusterFile] == nil {
			continue
		}
		if running.serving == version && running.allRun() {
			return name, version
		}
		if first == "" {
			first = name
		}
	}
	return first, version
}
