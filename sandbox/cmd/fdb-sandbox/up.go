package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/fdbtools"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/machine"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/node"
)

// upOptions are the flags of `fdb-sandbox up`.
type upOptions struct {
	dir            string
	nodes, zones   int
	labels         map[string]string
	cpu            string
	memory         string
	storage        string
	pods           string
	port           int
	podNetwork     string
	detach         bool
	speed          float64
	idleSpeed      float64
	configMapDelay time.Duration
	nodeGrace      time.Duration
	tool           string
	binDirs        map[string]string
}

func newUp() *cobra.Command {
	var o upOptions
	cmd := &cobra.Command{
		Use:   "up --dir DIR",
		Short: "Start a sandbox, or resume the one in its directory",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.detach {
				return detach(cmd.Context(), o.dir, os.Args[1:], cmd.OutOrStdout())
			}
			return o.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	dirFlag(cmd, &o.dir)
	f.IntVar(&o.nodes, "nodes", 5, "number of nodes")
	f.IntVar(&o.zones, "zones", 3, "number of zones the nodes are spread over")
	f.StringToStringVar(&o.labels, "node-label", nil, "labels of every node (KEY=VALUE)")
	f.StringVar(&o.cpu, "node-cpu", "16", "processors of every node")
	f.StringVar(&o.memory, "node-memory", "64Gi", "memory of every node")
	f.StringVar(&o.storage, "node-storage", "500Gi", "ephemeral storage of every node")
	f.StringVar(&o.pods, "node-pods", "110", "pods that fit on every node")
	f.IntVar(&o.port, "port", 0, "port of the API on 127.0.0.1; 0 keeps the last one or takes a free one")
	f.StringVar(&o.podNetwork, "pod-network", "", "addresses of pods, a /16 of 127.0.0.0/8; empty keeps the last one or takes a free one")
	f.BoolVar(&o.detach, "detach", false, "return when the sandbox is ready and leave it running")
	f.Float64Var(&o.speed, "speed", 1, "how fast time passes for simulated databases")
	f.Float64Var(&o.idleSpeed, "idle-speed", 0, "how fast time passes in a namespace while no tool runs and no pod changes in it; each has its own clock and databases then (0: one clock for all, at --speed)")
	f.DurationVar(&o.configMapDelay, "config-map-delay", time.Second, "delay before ConfigMap changes reach pods")
	f.DurationVar(&o.nodeGrace, "node-grace", 10*time.Second, "time without a report after which a node is NotReady")
	f.StringVar(&o.tool, "tool", "", "the fdb-sandbox-tool program; default: beside this program")
	f.StringToStringVar(&o.binDirs, "fdb-bin-dir", nil, "directory of real FoundationDB programs of a version (VERSION=DIR)")
	return cmd
}

func dirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", os.Getenv("FDB_SANDBOX_DIR"), "directory that holds the sandbox's state; default: $FDB_SANDBOX_DIR")
}

// checkDir makes the directory absolute.
func checkDir(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("which sandbox? use --dir or set FDB_SANDBOX_DIR")
	}
	return filepath.Abs(dir)
}

func (o upOptions) run(ctx context.Context, out io.Writer) error {
	options, err := o.machine()
	if err != nil {
		return err
	}
	began := options.Clock.Now()
	options.Progress = func(format string, args ...any) {
		fmt.Fprintf(out, "%6.2fs  %s\n", options.Clock.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	m, err := machine.Start(ctx, options)
	if err != nil {
		return err
	}
	defer m.Stop()
	options.Progress("ready")
	fmt.Fprintf(out, "export KUBECONFIG=%s\n", m.Paths.Kubeconfig())
	announceReady(out)
	select {
	case <-ctx.Done():
		return nil
	case err := <-m.Failed():
		return err
	}
}

// machine returns the options of the sandbox that the flags describe.
func (o upOptions) machine() (machine.Options, error) {
	dir, err := checkDir(o.dir)
	if err != nil {
		return machine.Options{}, err
	}
	tool, err := o.toolPath()
	if err != nil {
		return machine.Options{}, err
	}
	if o.idleSpeed < 0 || o.idleSpeed > fdbtools.MaxSpeed {
		return machine.Options{}, fmt.Errorf("--idle-speed %g: must be at least 0 and at most %d", o.idleSpeed, fdbtools.MaxSpeed)
	}
	nodes, err := o.nodeSpecs()
	if err != nil {
		return machine.Options{}, err
	}
	programs := map[string]string{}
	for version, dir := range o.binDirs {
		if programs[version], err = filepath.Abs(dir); err != nil {
			return machine.Options{}, err
		}
	}
	return machine.Options{
		Dir: dir, Nodes: nodes, Port: o.port, Network: o.podNetwork, Speed: o.speed, IdleSpeed: o.idleSpeed, ConfigMapDelay: o.configMapDelay,
		NodeGrace: o.nodeGrace, Tool: tool, Programs: programs, Clock: clock.RealClock{},
	}, nil
}

func (o upOptions) toolPath() (string, error) {
	tool := o.tool
	if tool == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find this program: %w", err)
		}
		tool = filepath.Join(filepath.Dir(self), "fdb-sandbox-tool")
	}
	if _, err := os.Stat(tool); err != nil {
		return "", fmt.Errorf("find fdb-sandbox-tool (see --tool): %w", err)
	}
	return filepath.Abs(tool)
}

func (o upOptions) nodeSpecs() ([]node.Spec, error) {
	if o.nodes < 1 || o.zones < 1 {
		return nil, errors.New("a sandbox needs at least one node and one zone")
	}
	capacity := corev1.ResourceList{}
	for name, text := range map[corev1.ResourceName]string{
		corev1.ResourceCPU: o.cpu, corev1.ResourceMemory: o.memory, corev1.ResourceEphemeralStorage: o.storage, corev1.ResourcePods: o.pods,
	} {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("read the nodes' %s %q: %w", name, text, err)
		}
		capacity[name] = quantity
	}
	var specs []node.Spec
	for i := range o.nodes {
		labels := map[string]string{corev1.LabelTopologyRegion: "sandbox", corev1.LabelTopologyZone: zoneName(i % o.zones)}
		maps.Copy(labels, o.labels)
		specs = append(specs, node.Spec{Name: fmt.Sprintf("node-%d", i+1), Labels: labels, Capacity: capacity})
	}
	return specs, nil
}

// zoneName is zone-a, zone-b, … zone-z, zone-aa and so on.
func zoneName(n int) string {
	letters := ""
	for ; n >= 0; n = n/26 - 1 {
		letters = string(rune('a'+n%26)) + letters
	}
	return "zone-" + strings.ToLower(letters)
}
