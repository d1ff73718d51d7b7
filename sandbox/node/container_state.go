package node

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
)

// notice records the end of a container that ended.
func (c *container) notice() {
	if c.process == nil {
		return
	}
	select {
	case <-c.process.Ended():
	default:
		return
	}
	exit, started := c.process.Exit(), c.status.State.Running.StartedAt
	c.close()
	c.over(exit, started)
}

// over records an end and when the next start may be.
func (c *container) over(exit box.Exit, started metav1.Time) {
	now := c.runner.agent.Clock.Now()
	t := &corev1.ContainerStateTerminated{
		ExitCode: int32(exit.Code), Reason: "Error", StartedAt: started, FinishedAt: metav1.NewTime(now), ContainerID: c.id(), //nolint:gosec // an exit code
	}
	if exit.Code == 0 {
		t.Reason = "Completed"
	}
	if now.Sub(started.Time) > stableAfter {
		c.backOff = 0
	}
	c.retryAt = now.Add(c.backOff)
	c.status.State = corev1.ContainerState{Terminated: t}
	if c.runner.pod == nil || c.runner.pod.DeletionTimestamp != nil || !c.shouldStart() {
		return
	}
	c.status.RestartCount++
	c.status.LastTerminationState = c.status.State
	if c.backOff > 0 {
		c.await("CrashLoopBackOff", fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", c.backOff, c.spec.Name, strings.ReplaceAll(c.runner.key(), "/", "_")))
	}
	c.backOff = min(longestBackOff, max(firstBackOff, 2*c.backOff))
}

// await records that the container waits, and for what.
func (c *container) await(reason, message string) {
	c.status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// crash is the CrashLoop fault: the container has ended and waits to be restarted.
func (c *container) crash() {
	if w := c.status.State.Waiting; w != nil && w.Reason == "CrashLoopBackOff" && c.process == nil {
		return
	}
	started := c.runner.started
	if c.status.State.Running != nil {
		started = c.status.State.Running.StartedAt
	}
	c.kill()
	c.backOff = longestBackOff
	c.over(box.Exit{Code: 1}, started)
	c.retryAt, c.backOff = time.Time{}, 0 // once the fault is cleared it starts at once
}

// askToEnd sends the container's process SIGTERM.
func (c *container) askToEnd() {
	if c.process == nil {
		return
	}
	if err := c.process.Signal(syscall.SIGTERM); err != nil {
		c.runner.agent.Log.Info("asking a container to end", "pod", c.runner.name, "container", c.spec.Name, "error", err)
	}
}

// kill ends the container at once.
func (c *container) kill() {
	if c.process == nil {
		return
	}
	started := c.status.State.Running.StartedAt
	c.close()
	c.over(box.Exit{Code: 137, Signal: syscall.SIGKILL}, started)
}

// close ends the box and everything that serves it.
func (c *container) close() {
	if c.probes != nil {
		c.probes.stop()
		c.probes = nil
	}
	c.box.Kill()
	c.cancel()
	c.runner.agent.dropPlaces(c.places)
	c.box, c.process = nil, nil
}

// report is the container's part of the pod's status.
func (c *container) report() corev1.ContainerStatus {
	s := *c.status.DeepCopy()
	running := c.process != nil
	s.Started = new(running && c.probes.started())
	s.Ready = running && c.probes.ready()
	if c.isInit() {
		s.Ready = s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
	}
	return s
}
