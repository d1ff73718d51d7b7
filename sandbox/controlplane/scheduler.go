package controlplane

import (
	"context"
	"fmt"

	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// startScheduler runs kube-scheduler in this process until ctx ends. The
// channel receives once, when it ended.
func startScheduler(ctx context.Context, kubeconfig string) (<-chan error, error) {
	o := options.NewOptions()
	args := []string{
		"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=200", "--kube-api-burst=400",
	}
	if err := parseFlags(*o.Flags, args); err != nil {
		return nil, fmt.Errorf("set the scheduler's flags: %w", err)
	}
	if err := o.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, fmt.Errorf("set the scheduler's feature gates: %w", err)
	}
	config, scheduler, err := app.Setup(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("set up the scheduler: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- app.Run(ctx, config, scheduler) }()
	return done, nil
}
